//! Clients that fail or are late, in the rounds of a simulation.

use super::Simulation;
use crate::error::RunError;
use crate::faults::{Attendance, Fates, Faults, Work};
use crate::round::RoundStats;

impl Simulation {
    /// Lets clients fail or be late in rounds; see [`Faults`]. Their states stay as before the round, and
    /// results are those of a cohort of the clients that arrived. A round with too few clients is
    /// skipped.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or a segment cannot be lowered to count its operations.
    pub fn with_faults(mut self, faults: Faults) -> Result<Self, RunError> {
        faults.check(self.dataset.client_indices.len())?;
        self.works = match faults.is_none() {
            true => vec![],
            false => {
                let phases = self.program().phases().into_iter();
                let works = phases.map(|(_, program)| Work::of(program));
                works.collect::<Result<_, _>>()?
            }
        };
        self.faults = faults;
        Ok(self)
    }

    /// The fates of a round's clients; `None` where nobody ever fails.
    pub(crate) fn fates(&self, round: usize, scheduled: usize) -> Option<Fates<'_>> {
        let work = self.works.get(self.program().phase_of(scheduled).0)?;
        Some(Fates {
            faults: &self.faults,
            work,
            seed: self.seed,
            round,
        })
    }

    /// Ends a round in which too few clients were there: everything stays as it was.
    pub(crate) fn skip_round(&mut self, attendance: &Attendance) -> RoundStats {
        self.round += 1;
        let stats = RoundStats {
            train_loss: f64::NAN,
            skipped: true,
            ..RoundStats::default()
        };
        self.attended(stats, attendance)
    }

    /// Statistics with who took part.
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
