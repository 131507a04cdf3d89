//! Simulates clients that fail or are late.

use super::Simulation;
use crate::error::RunError;
use crate::faults::{Attendance, Fates, Faults, Workload};
use crate::round::RoundStats;

impl Simulation {
    /// Lets clients fail or be late in rounds; see [`Faults`]. The states of such clients stay as before the round, and
    /// its results are those of a cohort without them. A round with too few clients is skipped.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or a segment cannot be lowered to count its floating-point operations.
    pub fn with_faults(mut self, faults: Faults) -> Result<Self, RunError> {
        faults.check(self.dataset.client_indices.len())?;
        self.workloads = match faults.is_none() {
            true => vec![],
            false => {
                let phases = self.program().phases().into_iter();
                let workloads = phases.map(|(_, program)| Workload::of(program));
                workloads.collect::<Result<_, _>>()?
            }
        };
        self.faults = faults;
        Ok(self)
    }

    /// The fates of a round's clients; `None` if clients never fail and take no time.
    pub(crate) fn fates(&self, round: usize, scheduled: usize) -> Option<Fates<'_>> {
        let workload = self.workloads.get(self.program().phase_of(scheduled).0)?;
        Some(Fates {
            faults: &self.faults,
            workload,
            seed: self.seed,
            round,
        })
    }

    /// Ends a round in which too few clients took part: parameters and states stay as they were.
    pub(crate) fn skip_round(&mut self, attendance: &Attendance) -> RoundStats {
        self.round += 1;
        let stats = RoundStats {
            train_loss: f64::NAN,
            skipped: true,
            ..RoundStats::default()
        };
        self.attended(stats, attendance)
    }

    /// Adds to statistics which of the called clients did not take part, and why.
    pub(crate) fn attended(&self, stats: RoundStats, attendance: &Attendance) -> RoundStats {
        RoundStats {
            failed: attendance.failed.iter().copied().collect(),
            late: attendance.late.iter().copied().collect(),
            surplus: attendance.surplus.iter().copied().collect(),
            virtual_seconds: self.faults.has_clock().then_some(attendance.seconds),
            ..stats
        }
    }
}
