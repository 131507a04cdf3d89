//! Draws the fate of a called client in a round: it fails, is late, or arrives.

use std::ops::Range;

use fedround_exec::{CompileError, Program};
use fedround_ir::fed::Value;
use fedround_passes::report::{cohorts, wire};
use fedround_passes::schedule::{Runs, runs};
use fedround_passes::tensor::cost;
use fedround_random::{Purpose, StreamKey};

use super::Faults;

/// The parts of random keys that distinguish the draws for [`Purpose::Faults`].
const SPEED: usize = 0;
const BANDWIDTH: usize = 1;
const FAILURE: usize = 2;

/// What clients compute and send in a round. It follows from the graphs of the program, before the round runs.
///
/// A client's work is that of the cohorts in which it may be by its number: one that validates and never trains has
/// none of the training's.
pub(crate) struct Workload {
    /// The segments of client code: who runs each, how often, and its number of floating-point operations.
    segments: Vec<(Numbers, Runs, u64)>,
    /// Who sends or receives values, and the bytes of those. Features, labels and visits are not counted, because
    /// their sizes are known only at run time.
    bytes: Vec<(Numbers, usize)>,
}

/// The numbers of the clients that may be in a cohort.
type Numbers = Vec<Range<usize>>;

impl Workload {
    /// The workload of a program.
    pub fn of(program: &Program) -> Result<Self, CompileError> {
        let graphs = program.graphs(program.batch_size())?;
        let segments = runs(program.schedule()).into_iter().zip(&graphs);
        let segments = segments.filter(|(runs, _)| runs.on_clients);
        let known = cohorts(program.linked());
        let of_values = |of: Option<Value>| {
            let cohort = of.and_then(|v| known.get(&v).copied());
            program.client_numbers(cohort)
        };
        let rows = wire(program.linked());
        let bytes = rows
            .iter()
            .filter_map(|row| Some((program.client_numbers(row.cohort), row.bytes(program)?)));
        Ok(Self {
            segments: segments
                .map(|(runs, graph)| (of_values(runs.clients_of), runs, cost(graph).flops))
                .collect(),
            bytes: bytes.collect(),
        })
    }

    /// The floating-point operations of a client with `examples` examples. A loop over rows counts as one over so
    /// many examples, or over a batch inside a loop over batches, because the number of rows is known only at run
    /// time.
    fn flops(&self, client: usize, examples: usize) -> f64 {
        let segments = self.segments.iter();
        let segments = segments.filter(|(numbers, ..)| is_in(numbers, client));
        let flops = segments.map(|(_, runs, flops)| {
            let batch = runs.loops.batches.last().copied();
            let rows = batch.unwrap_or(u64::MAX).min(examples as u64) as f64;
            let of_rows = runs.rows.map_or(1.0, |size| rows / size.max(1) as f64);
            *flops as f64 * runs.full_batches(examples as u64) * of_rows
        });
        flops.sum()
    }

    /// The bytes that a client sends and receives.
    fn bytes(&self, client: usize) -> usize {
        let bytes = self.bytes.iter();
        let bytes = bytes.filter(|(numbers, _)| is_in(numbers, client));
        bytes.map(|(_, bytes)| bytes).sum()
    }
}

fn is_in(numbers: &[Range<usize>], client: usize) -> bool {
    numbers.iter().any(|range| range.contains(&client))
}

/// The fates of a round's clients.
#[derive(Clone, Copy)]
pub(crate) struct Fates<'a> {
    pub faults: &'a Faults,
    pub workload: &'a Workload,
    pub seed: u64,
    pub round: usize,
}

/// The fate of a called client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// The client fails.
    Fails,
    /// The client would arrive after the deadline.
    Late,
    /// The client arrives after this many virtual seconds.
    Arrives(f64),
}

impl Fates<'_> {
    /// The fate of a client with `examples` examples.
    pub fn of(&self, client: usize, examples: usize) -> Fate {
        let key = StreamKey::new(self.seed, Purpose::Faults);
        let failure = key.with(FAILURE).with(self.round).with(client);
        // The random number is at least 0, so that with probability 0 no client fails.
        if failure.stream().unit() < self.faults.dropout {
            return Fate::Fails;
        }
        let seconds = self.duration(client, examples);
        match self.faults.deadline {
            Some(deadline) if seconds > deadline => Fate::Late,
            _ => Fate::Arrives(seconds),
        }
    }

    /// The virtual seconds that a client's round takes, whether it fails or not: for computing, and for uploads and
    /// downloads.
    pub fn duration(&self, client: usize, examples: usize) -> f64 {
        let key = StreamKey::new(self.seed, Purpose::Faults);
        let speed = self.faults.speed.as_ref();
        let speed = speed.map(|of| of.of(client, key.with(SPEED).with(client)));
        let bandwidth = self.faults.bandwidth.as_ref();
        let bandwidth = bandwidth.map(|of| of.of(client, key.with(BANDWIDTH).with(client)));
        let flops = || self.workload.flops(client, examples);
        let computing = speed.map_or(0.0, |speed| flops() / (1e9 * speed));
        let bits = 8.0 * self.workload.bytes(client) as f64;
        computing + bandwidth.map_or(0.0, |bandwidth| bits / (1e6 * bandwidth))
    }
}
