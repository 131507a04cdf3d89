//! The test accuracy at which the first phase of an algorithm ends.

use fedround_simulation::Simulation;

use crate::settings::Settings;

/// Ends FedAvg, and LG-FedAvg's rounds of it (Liang, Liu et al. 2020, section 3.1): after the first
/// evaluation that reaches it the other rounds of the first phase are left out, and of an algorithm
/// without phases all others.
pub(crate) struct Goal(Option<f64>);

impl Goal {
    pub fn of(settings: &Settings) -> Self {
        Self(settings.goal)
    }

    /// Whether the next evaluation may end something.
    pub fn open(&self, simulation: &Simulation) -> bool {
        self.0.is_some() && simulation.phase().0 == 0
    }

    /// How many of the rounds to come an evaluation leaves out; `None` where it does not reach the
    /// goal, or another one did before.
    pub fn reached(
        &mut self,
        simulation: &mut Simulation,
        accuracy: f64,
        to_come: usize,
    ) -> Option<usize> {
        if !self.open(simulation) {
            return None;
        }
        self.0.take_if(|goal| accuracy >= *goal)?;
        let left_out = simulation.end_phase().unwrap_or(to_come);
        Some(left_out.min(to_come))
    }
}
