//! The phases of a program, and the phase to which a round belongs.

use super::Program;

impl Program {
    /// The program of a round, counted from 1.
    pub fn at(&self, round: usize) -> &Self {
        let earlier = self.earlier.get(self.phase_of(round).0);
        earlier.map_or(self, |phase| &phase.program)
    }

    /// The number of the phase of a round, and how many rounds of the phase come after this one. Phases are
    /// counted from 0 and rounds from 1. The second number is `None` in the last phase, which has no end.
    pub fn phase_of(&self, round: usize) -> (usize, Option<usize>) {
        let mut rounds_before = round.saturating_sub(1);
        for (i, phase) in self.earlier.iter().enumerate() {
            if rounds_before < phase.rounds {
                return (i, Some(phase.rounds - rounds_before - 1));
            }
            rounds_before -= phase.rounds;
        }
        (self.earlier.len(), None)
    }

    /// The name of the phase of a round, counted from 1; `None` in the last phase, which has no name.
    pub fn phase_name(&self, round: usize) -> Option<&str> {
        let earlier = self.earlier.get(self.phase_of(round).0);
        earlier.map(|phase| phase.name.as_str())
    }

    /// The programs of all phases in order, of which this one is the last, each with a line about its rounds. The
    /// line is `None` if there is one phase.
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
