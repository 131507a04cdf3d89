//! The phases of an algorithm, such as pre-training and training, over a simulation's rounds.

use super::Simulation;
use fedround_exec::Program;

impl Simulation {
    /// The phase of the last complete round, from 0, and its program; the first phase before any
    /// round.
    pub fn phase(&self) -> (usize, &Program) {
        let (program, round) = (self.program(), self.scheduled(self.round));
        (program.phase_of(round).0, program.at(round))
    }

    /// The number that a round has in the schedule of phases: larger than its own number if phases ended early.
    pub(crate) fn scheduled(&self, round: usize) -> usize {
        round + self.left_out_rounds
    }

    /// Ends the phase of the last complete round: the next round is the first one of the next phase, and a late
    /// client joins that many rounds earlier. Returns the number of rounds that are left out, or `None` in the last
    /// phase, which has no end.
    pub fn end_phase(&mut self) -> Option<usize> {
        let round = self.scheduled(self.round);
        let (_, left) = self.program().phase_of(round);
        // Before the first round, that one is left out, too.
        let left = left? + usize::from(round == 0);
        self.left_out_rounds += left;
        Some(left)
    }
}
