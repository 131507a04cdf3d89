//! The phases of a program: which one a round is in.

use super::Program;

impl Program {
    /// The program of a round, counted from 1.
    pub fn at(&self, round: usize) -> &Self {
        let earlier = self.earlier.get(self.phase_of(round).0);
        earlier.map_or(self, |phase| &phase.program)
    }

    /// The phase of a round, phases counted from 0 and rounds from 1, and how many of its rounds come
    /// after this one; `None` in the last phase, which has no end.
    pub fn phase_of(&self, round: usize) -> (usize, Option<usize>) {
        let mut before = round.saturating_sub(1);
        for (i, phase) in self.earlier.iter().enumerate() {
            if before < phase.rounds {
                return (i, Some(phase.rounds - before - 1));
            }
            before -= phase.rounds;
        }
        (self.earlier.len(), None)
    }

    /// The name of the phase of a round, counted from 1; `None` in the last phase, which has no name.
    pub fn phase_name(&self, round: usize) -> Option<&str> {
        let earlier = self.earlier.get(self.phase_of(round).0);
        earlier.map(|phase| phase.name.as_str())
    }

    /// The programs of all phases in order, this one the last, each with a line about its rounds;
    /// none where there is one phase.
    pub fn phases(&self) -> Vec<(Option<String>, &Self)> {
        let mut all = vec![];
        let mut done = 0;
        for phase in &self.earlier {
            let (first, last) = (done + 1, done + phase.rounds);
            let line = format!("phase {}, rounds {first} to {last}", phase.name);
            all.push((Some(line), &phase.program));
            done = last;
        }
        let rest = (done > 0).then(|| format!("from round {} on", done + 1));
        all.push((rest, self));
        all
    }
}
