//! The privacy that a run has spent.

use fedround_exec::Program;

use super::{Round, Run};
use crate::privacy::{AccountingInputs, Missed, Spent, spent};

impl Run {
    /// What the ε of this run depends on besides its program.
    pub fn privacy_inputs(&self) -> AccountingInputs {
        let own = &self.simulation.dataset().client_indices;
        let sizes = || own.iter().map(Vec::len);
        let faults = &self.settings.faults;
        AccountingInputs {
            known_cohorts: self.simulation.has_parties(),
            clients: own.len(),
            fewest_examples: sizes().min().unwrap_or(0),
            most_examples: sizes().max().unwrap_or(0),
            reproducible: self.settings.reproducible_noise,
            missed: Missed {
                some: faults.dropout > 0.0 || faults.deadline.is_some(),
                // Where all are equally fast, those that were drawn first take part: a cohort like any other.
                slow: faults.over_select > 1.0 && faults.has_clock(),
                late: self.settings.late_client.is_some(),
            },
            delta: self.settings.delta,
        }
    }
}

/// The privacy that is spent after the rounds of a history; `None` of a program without noise on what clients
/// tell. The first phase may have ended early, after round `goal`.
///
/// Rounds can show that clients were missing whom no setting names, such as those of parties that were offline
/// and those whose updates were not finite.
pub fn privacy_spent(
    program: &Program,
    mut inputs: AccountingInputs,
    history: &[Round],
    goal: Option<usize>,
) -> Option<Spent> {
    inputs.missed.some |= history.iter().any(|round| {
        let missing = [&round.failed, &round.late, &round.not_finite];
        missing.into_iter().any(|clients| !clients.is_empty())
    });
    spent(program, inputs, history.len(), goal)
}
