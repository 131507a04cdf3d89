//! The privacy that a run has spent: its ε so far, with what it rests on.

use std::collections::BTreeMap;

use fedround_exec::Program;
use fedround_ir::Loc;
use fedround_metrics::accountant::Steps;
use fedround_passes::fed::{Mechanism, NoiseKind, Unit, mechanisms};
use serde::{Deserialize, Serialize};

use super::bound::{NoBound, of_passes, replaced, round_up, rounds_of, usual_steps};
use super::cohort_passes::InPasses;
use super::grounds::Grounds;
use super::missed::Missed;
use super::neighbours::Neighbours;

/// Where noise comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseSource {
    /// The system's random generator.
    System,
    /// The seed of a run, as in experiments. It keeps nothing private.
    Reproducible,
}

/// The privacy that a run with noise on what clients tell has spent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Spent {
    /// Where the noise comes from.
    pub noise: NoiseSource,
    /// The ε of all guarantees together, by adding up. `None` if one of them has no known bound; if they are of
    /// different [`Neighbours`], of which each kind has a [total](Self::totals) of its own; and after rounds none of
    /// which has added noise, as whatever clients told was told without it.
    pub epsilon: Option<f64>,
    /// The δ of all guarantees together.
    pub delta: f64,
    /// One for each place of noise.
    #[serde(rename = "mechanisms")]
    pub guarantees: Vec<Guarantee>,
}

/// The (ε, δ) of one place of noise, or of several on sums over one cohort.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Guarantee {
    /// The line of the algorithm, or lines.
    pub at: String,
    /// Rounds so far.
    pub rounds: usize,
    /// How often a round adds it, for the client with the most examples; `None` if it adds it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u64>,
    /// Proven, rounded up to three decimals; `None` if no bound is known.
    pub epsilon: Option<f64>,
    /// Why none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_bound: Option<String>,
    /// Its δ, 0 for Laplace noise.
    pub delta: f64,
    /// The usual figure of training with noise, which is no bound of shuffled batches. It is of the fewest rows
    /// that a cohort can have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_epsilon: Option<f64>,
    /// The rows that the usual figure is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// What the ε is about. `None` for noise on a value that is not clipped, and in what an earlier version of
    /// fedround wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    /// What is hidden: a row, such as an example or what is made of one, or all of a client's data. `None` of
    /// noise on a value that is not clipped. It is not serialised: `None` of what was read back, too.
    #[serde(skip)]
    pub hides: Option<Unit>,
    /// What the ε rests on. It is not serialised: empty in what was read back.
    #[serde(skip)]
    pub grounds: Vec<Grounds>,
}

/// What the ε of a run depends on besides its program.
#[derive(Clone, Copy, Debug)]
pub struct AccountingInputs {
    /// Whether others than the server know who takes part in a round: the parties of a federation have the seed by
    /// which cohorts are drawn. Then nothing is hidden by the draw.
    pub known_cohorts: bool,
    /// The number of clients.
    pub clients: usize,
    /// Examples of the client that has fewest.
    pub fewest_examples: usize,
    /// Examples of the client that has most.
    pub most_examples: usize,
    /// Whether noise is drawn from the run's seed.
    pub reproducible: bool,
    /// Who of those that were drawn may be missing.
    pub missed: Missed,
    /// The δ of each guarantee.
    pub delta: f64,
}

impl Spent {
    /// Whether a round has added noise.
    pub fn has_noise(&self) -> bool {
        self.guarantees.iter().any(|guarantee| guarantee.rounds > 0)
    }

    /// What the rounds have spent for each kind of neighbours, by adding up; `None` if some noise has no known bound.
    pub fn totals(&self) -> Option<Vec<Total>> {
        let mut totals: BTreeMap<Neighbours, Total> = BTreeMap::new();
        for guarantee in self.guarantees.iter().filter(|it| it.rounds > 0) {
            let (neighbours, epsilon) = (guarantee.neighbours?, guarantee.epsilon?);
            let total = totals.entry(neighbours).or_insert(Total {
                neighbours,
                epsilon: 0.0,
                delta: 0.0,
            });
            // Each has three decimals, rounded up: their sum needs no more.
            total.epsilon = ((total.epsilon + epsilon) * 1e3).round() / 1e3;
            total.delta += guarantee.delta;
        }
        Some(totals.into_values().collect())
    }
}

/// What a run has spent for one kind of neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// What it is about.
    pub neighbours: Neighbours,
    /// The sum of the ε.
    pub epsilon: f64,
    /// The sum of the δ.
    pub delta: f64,
}

/// The privacy that is spent after some rounds; `None` of a program without noise on what clients tell. The
/// first phase may have ended early, after round `goal`.
pub(crate) fn spent(
    program: &Program,
    inputs: AccountingInputs,
    rounds: usize,
    goal: Option<usize>,
) -> Option<Spent> {
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
                .filter_map(|m| guarantee(program, m, inputs, (phases.len(), rounds))),
        );
        let unknown = all.unknown.iter();
        found.extend(unknown.map(|loc| unclipped(*loc, rounds)));
    }
    if found.is_empty() {
        return None;
    }
    let mut spent = Spent {
        noise: match inputs.reproducible {
            true => NoiseSource::Reproducible,
            false => NoiseSource::System,
        },
        epsilon: None,
        delta: found.iter().map(|m| m.delta).sum(),
        guarantees: found,
    };
    spent.epsilon = match spent.totals().as_deref() {
        Some([]) => (rounds == 0).then_some(0.0),
        Some([total]) => Some(total.epsilon),
        // Different neighbours, or no bound.
        Some(_) | None => None,
    };
    Some(spent)
}

/// Noise of which the program tells no ε.
fn unclipped(loc: Loc, rounds: usize) -> Guarantee {
    Guarantee {
        at: loc.to_string(),
        rounds,
        repetitions: None,
        epsilon: (rounds == 0).then_some(0.0),
        no_bound: (rounds > 0).then(|| NoBound::Unclipped.to_string()),
        delta: 0.0,
        usual_epsilon: None,
        rows: None,
        neighbours: None,
        hides: None,
        grounds: vec![],
    }
}

fn guarantee(
    program: &Program,
    joint: &[&Mechanism],
    inputs: AccountingInputs,
    (phases, rounds): (usize, usize),
) -> Option<Guarantee> {
    let mechanism = joint.first()?;
    let places: Vec<String> = joint.iter().map(|m| m.loc.to_string()).collect();
    let delta = inputs.delta;
    let laplace = mechanism.noise == NoiseKind::Laplace;
    let most = inputs.most_examples as u64;
    let repetitions = mechanism.repetitions.as_ref().map(|all| all.count(most));
    let (mut usual_epsilon, mut rows) = (None, None);
    let passes = InPasses::of(joint, inputs.clients).map(|passes| match phases {
        1 => passes.epsilon(rounds as u64, delta),
        _ if rounds == 0 => Ok(0.0),
        _ => Err(NoBound::Phases),
    });
    let mut steps = rounds_of(joint, inputs.clients, rounds as u64);
    if let (Some(steps), true) = (&mut steps, inputs.known_cohorts) {
        steps.rate = 1.0;
    }
    let neighbours = match (&passes, &steps) {
        (Some(_), _) => Neighbours::ClientReplaced,
        (None, Some(steps)) => Neighbours::of_cohorts(steps.sampling),
        (None, None) => Neighbours::of(mechanism),
    };
    let of_clients = steps.filter(|_| rounds > 0).map(|steps| {
        inputs.missed.check(joint)?;
        Ok(steps.epsilon(delta)?.min(steps.epsilon_by_losses(delta)?))
    });
    let epsilon = passes
        .or(of_clients)
        .unwrap_or_else(|| match (mechanism.steps, repetitions) {
            _ if rounds == 0 => Ok(0.0),
            (Some(steps), _) => {
                // What clients do to their own examples has no usual figure here.
                let cohort = program.cohort_size(inputs.clients);
                let cohort = cohort.filter(|_| mechanism.central);
                rows = cohort.and_then(|n| steps.rows(n, inputs.fewest_examples as u64));
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
    Some(Guarantee {
        at: places.join(" and "),
        rounds,
        repetitions: repetitions.filter(|times| *times > 1 && mechanism.steps.is_none()),
        no_bound: epsilon.err().map(|reason| reason.to_string()),
        epsilon: epsilon.ok().map(round_up),
        delta: if laplace || rounds == 0 { 0.0 } else { delta },
        usual_epsilon: usual_epsilon.map(round_up),
        rows,
        neighbours: Some(neighbours),
        hides: Some(mechanism.unit),
        grounds: Grounds::of(mechanism),
    })
}

#[cfg(test)]
mod tests;
