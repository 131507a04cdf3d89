//! Keeps, over the rounds, the values of single clients that the server has seen.

use std::collections::{BTreeMap, BTreeSet};

use fedround::experiment;
use fedround_exec::Program;
use fedround_ir::fed::{Kind, Value};
use fedround_metrics::MetricError;
use fedround_metrics::models::RunningVariance;
use fedround_passes::fed::examples_in_order;
use fedround_passes::report::{Direction, Wire, wire};
use fedround_simulation::{ObservedTensor, ServerObservation};
use serde::Serialize;

use super::mean_weights::{Weight, weights};

/// A line of `rounds.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Round {
    pub round: usize,
    /// The phase of the algorithm, from 1.
    pub phase: usize,
    pub train_loss: f64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Between clients.
    pub bytes_across: u64,
}

/// How far parameters that clients send are apart, before the server takes them together: a line of
/// `variance.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Spread {
    pub round: usize,
    /// What they are, and the line of the spec that sends them.
    pub sent: String,
    pub clients: usize,
    /// The mean over parameters of the variance over clients.
    pub variance: f64,
    /// `1/m Σ_k ‖θ_k − θ̄‖²` of the same.
    pub squared_distance: f64,
}

/// Rows of each client that the server had, in the last round in which it had them.
pub(super) struct Shared {
    /// Why they were released, or what they are.
    pub name: String,
    /// The round, from 1.
    pub round: usize,
    /// Whether clients sent them; otherwise the server made them.
    pub sent: bool,
    /// Whether they are labels.
    pub labels: bool,
    /// Whether a client's row `i` is of its example `i`.
    pub in_order: bool,
    pub clients: BTreeMap<usize, ObservedTensor>,
}

/// All rounds.
#[derive(Default)]
pub(super) struct Observations {
    pub rounds: Vec<Round>,
    /// How far uploads by two clients or more were apart.
    pub spreads: Vec<Spread>,
    /// The weights of clients in means that the server weighs.
    pub weights: Vec<Weight>,
    /// Clients that sent parameters in the last phase.
    pub trained: BTreeSet<usize>,
    /// What was shared, by phase and value.
    shared: BTreeMap<(usize, Value), Shared>,
    /// The models of the round that runs, by value, with the number of clients that sent each.
    models: BTreeMap<Value, (usize, RunningVariance)>,
    senders: BTreeSet<usize>,
    rows: BTreeMap<Value, Vec<ServerObservation>>,
    broken: Option<MetricError>,
}

impl Observations {
    /// Takes in a value of the round that runs.
    pub fn see(&mut self, seen: ServerObservation) {
        if seen.kind == Kind::Labels && !seen.sent {
            // Names of classes or clients, which go with other rows.
            return;
        }
        if seen.kind != Kind::Params {
            self.rows.entry(seen.value).or_default().push(seen);
            return;
        }
        if !seen.sent {
            return;
        }
        self.senders.insert(seen.client);
        let (clients, variance) = self.models.entry(seen.value).or_default();
        *clients += 1;
        let leaves = seen.tensors.into_iter();
        let model: Vec<f32> = leaves.flat_map(|leaf| leaf.values).collect();
        let added = variance.add(&model);
        self.broken = self.broken.take().or(added.err());
    }

    /// Ends the round; `program` is the one that ran.
    pub fn end(
        &mut self,
        (phase, program): (usize, &Program),
        ended: &experiment::Round,
    ) -> Result<(), MetricError> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        if self.rounds.last().is_some_and(|last| last.phase != phase) {
            self.trained.clear();
        }
        self.trained.append(&mut self.senders);
        let round = ended.number;
        self.rounds.push(Round {
            round,
            phase,
            train_loss: ended.train_loss,
            bytes_up: ended.bytes_up,
            bytes_down: ended.bytes_down,
            bytes_across: ended.bytes_across,
        });
        let wire = match self.rows.is_empty() && self.models.is_empty() {
            true => vec![],
            false => wire(program.linked()),
        };
        let ordered = match self.rows.is_empty() {
            true => BTreeSet::new(),
            false => examples_in_order(program.linked()),
        };
        for (value, (clients, variance)) in std::mem::take(&mut self.models) {
            if clients > 1 {
                let variance = variance.finish()?;
                self.spreads.push(Spread {
                    round,
                    sent: upload(&wire, value).map_or_else(String::new, named),
                    clients,
                    variance: variance.per_parameter,
                    squared_distance: variance.squared_distance,
                });
            }
        }
        for (value, seen) in std::mem::take(&mut self.rows) {
            if seen.iter().all(|seen| seen.kind == Kind::Scalar) {
                let weights = weights(round, value, &seen, program.linked());
                self.weights.extend(weights);
            } else if let Some(shared) = shared(round, value, seen, &wire, &ordered) {
                self.shared.insert((phase, value), shared);
            }
        }
        Ok(())
    }

    /// For each upload, how far its values were apart in the last round in which it was sent.
    pub fn last_spreads(&self) -> Vec<Spread> {
        let last: BTreeMap<&str, &Spread> =
            self.spreads.iter().map(|s| (s.sent.as_str(), s)).collect();
        last.into_values().cloned().collect()
    }

    /// Features and labels, in the order of phases.
    pub fn shared(&self) -> impl Iterator<Item = &Shared> {
        self.shared.values()
    }
}

/// The row of the wire table of what clients send.
fn upload(wire: &[Wire], value: Value) -> Option<&Wire> {
    let mut rows = wire.iter();
    rows.find(|row| row.value == value && row.direction == Direction::Up)
}

/// What crosses, and the line of the spec that sends it.
fn named(row: &Wire) -> String {
    format!("{} from {}", row.noun(), row.loc)
}

fn shared(
    round: usize,
    value: Value,
    seen: Vec<ServerObservation>,
    wire: &[Wire],
    ordered: &BTreeSet<Value>,
) -> Option<Shared> {
    let first = seen.first()?;
    let (sent, labels) = (first.sent, first.kind == Kind::Labels);
    let name = match upload(wire, value) {
        Some(row) if row.protection.released.is_empty() => named(row),
        Some(row) => {
            let why = row.protection.released.iter();
            why.cloned().collect::<Vec<_>>().join("; ")
        }
        None => "made on the server".to_owned(),
    };
    let clients = seen.into_iter();
    let clients = clients.filter_map(|seen| Some((seen.client, seen.tensors.into_iter().next()?)));
    Some(Shared {
        name,
        round,
        sent,
        labels,
        in_order: ordered.contains(&value),
        clients: clients.collect(),
    })
}

/// How many rows a tensor has, and numbers in a row.
pub(super) fn sizes(tensor: &ObservedTensor) -> (usize, usize) {
    let rows = tensor.shape.first().copied().unwrap_or_default();
    (rows, tensor.values.len() / rows.max(1))
}
