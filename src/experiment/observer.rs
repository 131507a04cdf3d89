//! Events that a caller can follow while an experiment trains.

use fedround_simulation::{ServerObservation, Simulation};

use super::{Report, Warning};

/// Follows an experiment round by round, and may stop it. Every method has a default that does
/// nothing, so an observer implements those that it needs; `()` observes nothing.
///
/// An observer cannot change results: parameters are the same whoever looks on.
pub trait Observer {
    /// Asked before each round. With `true` the experiment ends as [interrupted], after everything
    /// that ends a complete one.
    ///
    /// [interrupted]: super::Status::Interrupted
    fn stop_requested(&mut self) -> bool {
        false
    }

    /// Something in the algorithm is probably not meant so. [`Experiment::run_observed`] tells every warning before
    /// the first round; of a [prepared](super::Experiment::prepare) run, [`Run::warnings`](super::Run::warnings) has
    /// them.
    ///
    /// [`Experiment::run_observed`]: super::Experiment::run_observed
    fn warned(&mut self, _warning: &Warning) {}

    /// A round is complete: the last one of the report's history. Its scores are there if the model
    /// was evaluated after it.
    fn round_finished(&mut self, _report: &Report, _simulation: &Simulation) {}

    /// The device's memory was too small for `before` clients in one graph; from now on there are
    /// `now`.
    fn cohort_batch_reduced(&mut self, _before: usize, _now: usize) {}

    /// A local step that can be recorded on the GPU runs operation by operation, for this reason: the
    /// device did not record it, or its replay gave other values than a plain run. It is told once.
    fn step_not_replayed(&mut self, _why: &str) {}

    /// The goal's test accuracy was reached, and `left_out` of the rounds to come are left out.
    fn goal_reached(&mut self, _left_out: usize) {}

    /// Whether [`observe`](Self::observe) is to be called. It costs time, because values are read
    /// back from the device.
    fn observes_server(&self) -> bool {
        false
    }

    /// A value of one client that the server has in the round that runs.
    fn observe(&mut self, _value: ServerObservation) {}
}

impl Observer for () {}
