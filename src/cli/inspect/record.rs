//! What is kept of the rounds.

use std::collections::{BTreeMap, BTreeSet};

use fedround_exec::{Program, RoundStats, Seen, SeenTensor};
use fedround_ir::fed::{Kind, Value};
use fedround_metrics::MetricError;
use fedround_metrics::models::RunningVariance;
use fedround_passes::fed::{Direction, Wire, examples_in_order, wire};
use serde::Serialize;

/// A line of `rounds.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Round {
    pub round: usize,
    /// Of the algorithm, from 1.
    pub phase: usize,
    pub train_loss: f64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Of the first parameters that clients send in the round, before they are averaged: the mean
    /// over parameters of the variance over clients.
    pub model_variance: Option<f64>,
    /// `1/m Σ_k ‖θ_k − θ̄‖²` of the same.
    pub squared_distance: Option<f64>,
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
    pub clients: BTreeMap<usize, SeenTensor>,
}

/// All rounds.
#[derive(Default)]
pub(super) struct Record {
    pub rounds: Vec<Round>,
    /// By phase and value.
    shared: BTreeMap<(usize, Value), Shared>,
    /// Of the round that runs: by value, in the order in which they came.
    variances: Vec<(Value, RunningVariance)>,
    rows: BTreeMap<Value, Vec<Seen>>,
    broken: Option<MetricError>,
}

impl Record {
    /// Takes in a value of the round that runs.
    pub fn see(&mut self, seen: Seen) {
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
        let of = |(value, _): &(Value, RunningVariance)| *value == seen.value;
        let at = self.variances.iter().position(of).unwrap_or_else(|| {
            let first = (seen.value, RunningVariance::default());
            self.variances.push(first);
            self.variances.len() - 1
        });
        let leaves = seen.tensors.into_iter();
        let model: Vec<f32> = leaves.flat_map(|leaf| leaf.values).collect();
        let added = self.variances[at].1.add(&model);
        self.broken = self.broken.take().or(added.err());
    }

    /// Ends the round; `program` is the one that ran.
    pub fn end(
        &mut self,
        (phase, program): (usize, &Program),
        stats: &RoundStats,
    ) -> Result<(), MetricError> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        let variance = self.variances.drain(..).next();
        let variance = variance.map(|(_, of)| of.finish()).transpose()?;
        let round = self.rounds.len() + 1;
        self.rounds.push(Round {
            round,
            phase,
            train_loss: stats.train_loss,
            bytes_up: stats.bytes_up,
            bytes_down: stats.bytes_down,
            model_variance: variance.map(|v| v.per_parameter),
            squared_distance: variance.map(|v| v.squared_distance),
        });
        let (wire, ordered) = match self.rows.is_empty() {
            true => Default::default(),
            false => (wire(program.linked()), examples_in_order(program.linked())),
        };
        for (value, seen) in std::mem::take(&mut self.rows) {
            if let Some(shared) = shared(round, value, seen, &wire, &ordered) {
                self.shared.insert((phase, value), shared);
            }
        }
        Ok(())
    }

    /// Features and labels, in the order of phases.
    pub fn shared(&self) -> impl Iterator<Item = &Shared> {
        self.shared.values()
    }
}

fn shared(
    round: usize,
    value: Value,
    seen: Vec<Seen>,
    wire: &[Wire],
    ordered: &BTreeSet<Value>,
) -> Option<Shared> {
    let first = seen.first()?;
    let (sent, labels) = (first.sent, first.kind == Kind::Labels);
    let own = |row: &&Wire| row.value == value && row.direction == Direction::Up;
    let name = match wire.iter().find(own) {
        Some(row) if row.protection.released.is_empty() => {
            format!("{} from {}", row.noun(), row.loc)
        }
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
