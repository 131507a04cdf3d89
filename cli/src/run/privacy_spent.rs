//! What the noise of a run has left of its clients' privacy: a part of its summary and metrics.

use fedround_exec::Program;
use fedround_metrics::accountant::Steps;
use fedround_metrics::privacy::{gaussian_epsilon, laplace_epsilon};
use fedround_passes::fed::{Mechanism, NoiseKind, mechanisms};
use serde::Serialize;

use crate::privacy::{DELTA, round_up};

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

/// One place of noise.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MechanismSpent {
    /// The line of the algorithm.
    pub at: String,
    /// Rounds so far.
    pub rounds: usize,
    /// Proven, rounded up; `null` if no bound is known.
    pub epsilon: Option<f64>,
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
    /// Examples of the client that has fewest.
    pub fewest_examples: usize,
    pub reproducible: bool,
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
        let known = all.known.iter();
        found.extend(known.map(|m| spent(program, m, federation, rounds)));
        found.extend(all.unknown.iter().map(|loc| MechanismSpent {
            at: loc.to_string(),
            rounds,
            epsilon: (rounds == 0).then_some(0.0),
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
    mechanism: &Mechanism,
    federation: Federation,
    rounds: usize,
) -> MechanismSpent {
    let (bound, scale) = (mechanism.bound, mechanism.scale);
    let laplace = mechanism.noise == NoiseKind::Laplace;
    let (mut usual_epsilon, mut rows) = (None, None);
    let epsilon = match mechanism.steps {
        _ if rounds == 0 => Some(0.0),
        Some(steps) => {
            let cohort = program.cohort_size(federation.clients);
            rows = cohort.and_then(|n| steps.rows(n, federation.fewest_examples as u64));
            usual_epsilon = rows.filter(|rows| *rows > 0).and_then(|rows| {
                let count =
                    (rounds * steps.passes) as u64 * rows.div_ceil(steps.batch.max(1) as u64);
                let usual = Steps {
                    rate: (steps.batch as f64 / rows as f64).min(1.0),
                    noise: scale / bound,
                    count,
                };
                usual.epsilon(DELTA).ok()
            });
            // Each pass changes by one bound in one of its steps: √passes bounds in all.
            let passes = (rounds * steps.passes) as f64;
            gaussian_epsilon(passes.sqrt(), scale / bound, DELTA).ok()
        }
        // How often a row is told in a round cannot be read off the graph.
        None if mechanism.looped => None,
        // The bound is on the L2 norm, and Laplace noise hides the L1 norm.
        None if laplace && !mechanism.l1 => None,
        None if laplace => laplace_epsilon(2.0, scale).ok().map(|e| e * rounds as f64),
        // A neighbour has another value in its place, in each round; Gaussian noise composes without loss.
        None => gaussian_epsilon(2.0 * bound * (rounds as f64).sqrt(), scale, DELTA).ok(),
    };
    MechanismSpent {
        at: mechanism.loc.to_string(),
        rounds,
        epsilon: epsilon.map(round_up),
        delta: if laplace || rounds == 0 { 0.0 } else { DELTA },
        usual_epsilon: usual_epsilon.map(round_up),
        rows,
    }
}
