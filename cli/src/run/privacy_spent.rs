//! The privacy that a run has spent (its ε so far), as a part of its summary and metrics.

use fedround::experiment::Round;
use fedround_exec::Program;
use fedround_metrics::accountant::Steps;
use fedround_passes::fed::{Mechanism, NoiseKind, mechanisms};
use serde::Serialize;

use crate::privacy_bound::{
    Missed, NoBound, of_passes, replaced, round_up, rounds_of, usual_steps,
};
use crate::privacy_passes::InPasses;

/// `privacy` of a run with noise on what clients tell.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PrivacySpent {
    /// `system`, or `reproducible` in an experiment, which keeps nothing private.
    pub noise: &'static str,
    /// Of all mechanisms in all rounds, by adding up; `null` if one of them has no known bound.
    pub epsilon: Option<f64>,
    pub delta: f64,
    pub mechanisms: Vec<MechanismSpent>,
}

/// One place of noise, or several on sums over one cohort.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MechanismSpent {
    /// The line of the algorithm, or lines.
    pub at: String,
    /// Rounds so far.
    pub rounds: usize,
    /// How often a round adds it, for the client with the most examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u64>,
    /// Proven, rounded up; `null` if no bound is known.
    pub epsilon: Option<f64>,
    /// Why none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_bound: Option<String>,
    pub delta: f64,
    /// The usual figure of training with noise, which is no bound of shuffled batches; of the fewest rows
    /// that a cohort can have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_epsilon: Option<f64>,
    /// The rows that it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

/// The federation of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Federation {
    pub clients: usize,
    /// Examples of the client that has fewest, and of the one that has most.
    pub fewest_examples: usize,
    pub most_examples: usize,
    pub reproducible: bool,
    /// Who of those that were drawn may be missing.
    pub missed: Missed,
    /// Of the statements.
    pub delta: f64,
}

impl Federation {
    /// The federation as rounds showed it: clients were missing that no setting names, such as those of parties
    /// that were offline and those whose updates were not finite.
    pub fn seen(mut self, rounds: &[Round]) -> Self {
        self.missed.some |= rounds.iter().any(|round| {
            let missing = [&round.failed, &round.late, &round.not_finite];
            missing.into_iter().any(|clients| !clients.is_empty())
        });
        self
    }
}

/// The privacy that is spent after some rounds; `None` of a program without noise on what clients tell. The
/// first phase may have ended early, after round `goal`.
pub(crate) fn privacy_spent(
    program: &Program,
    federation: Federation,
    rounds: usize,
    goal: Option<usize>,
) -> Option<PrivacySpent> {
    let phases = program.phases();
    let mut done = vec![0; phases.len()];
    // Rounds of the first phase that are left out.
    let left_out = goal.and_then(|goal| program.phase_of(goal).1).unwrap_or(0);
    for round in 1..=rounds {
        let late = goal.is_some_and(|goal| round > goal);
        let (phase, _) = program.phase_of(round + if late { left_out } else { 0 });
        if let Some(count) = done.get_mut(phase) {
            *count += 1;
        }
    }
    let mut found = vec![];
    for ((_, program), &rounds) in phases.iter().zip(&done) {
        let all = mechanisms(program.linked());
        let joint = all.joint();
        found.extend(
            joint
                .iter()
                .filter_map(|m| spent(program, m, federation, (phases.len(), rounds))),
        );
        found.extend(all.unknown.iter().map(|loc| MechanismSpent {
            at: loc.to_string(),
            rounds,
            repetitions: None,
            epsilon: (rounds == 0).then_some(0.0),
            no_bound: (rounds > 0).then(|| NoBound::Unclipped.to_string()),
            delta: 0.0,
            usual_epsilon: None,
            rows: None,
        }));
    }
    let epsilon = found.iter().map(|m| m.epsilon).sum::<Option<f64>>();
    (!found.is_empty()).then(|| PrivacySpent {
        noise: match federation.reproducible {
            true => "reproducible",
            false => "system",
        },
        epsilon: epsilon.map(round_up),
        delta: found.iter().map(|m| m.delta).sum(),
        mechanisms: found,
    })
}

fn spent(
    program: &Program,
    joint: &[&Mechanism],
    federation: Federation,
    (phases, rounds): (usize, usize),
) -> Option<MechanismSpent> {
    let mechanism = joint.first()?;
    let places: Vec<String> = joint.iter().map(|m| m.loc.to_string()).collect();
    let delta = federation.delta;
    let laplace = mechanism.noise == NoiseKind::Laplace;
    let most = federation.most_examples as u64;
    let repetitions = mechanism.repetitions.as_ref().map(|all| all.count(most));
    let (mut usual_epsilon, mut rows) = (None, None);
    let passes = InPasses::of(joint, federation.clients).map(|passes| match phases {
        1 => passes.epsilon(rounds as u64, delta),
        _ if rounds == 0 => Ok(0.0),
        _ => Err(NoBound::Phases),
    });
    let steps = rounds_of(joint, federation.clients, rounds as u64);
    let of_clients = steps.filter(|_| rounds > 0).map(|steps| {
        federation.missed.check(joint)?;
        Ok(steps.epsilon(delta)?.min(steps.epsilon_by_losses(delta)?))
    });
    let epsilon = passes
        .or(of_clients)
        .unwrap_or_else(|| match (mechanism.steps, repetitions) {
            _ if rounds == 0 => Ok(0.0),
            (Some(steps), _) => {
                // What clients do to their own examples has no usual figure here.
                let cohort = program.cohort_size(federation.clients);
                let cohort = cohort.filter(|_| mechanism.central);
                rows = cohort.and_then(|n| steps.rows(n, federation.fewest_examples as u64));
                let round = rows.and_then(|rows| usual_steps(mechanism, steps, rows));
                usual_epsilon = round.and_then(|round| {
                    let count = rounds as u64 * round.count;
                    Steps { count, ..round }.epsilon(delta).ok()
                });
                of_passes(mechanism, steps, rounds as u64, delta).map_err(NoBound::from)
            }
            (None, None) => Err(NoBound::Loop),
            (None, Some(times)) => replaced(mechanism, rounds as f64 * times as f64, delta),
        });
    Some(MechanismSpent {
        at: places.join(" and "),
        rounds,
        repetitions: repetitions.filter(|times| *times > 1 && mechanism.steps.is_none()),
        no_bound: epsilon.err().map(|reason| reason.to_string()),
        epsilon: epsilon.ok().map(round_up),
        delta: if laplace || rounds == 0 { 0.0 } else { delta },
        usual_epsilon: usual_epsilon.map(round_up),
        rows,
    })
}

#[cfg(test)]
mod tests;
