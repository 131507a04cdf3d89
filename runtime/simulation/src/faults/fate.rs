//! Draws the fate of a called client in a round: it fails, is late, or arrives.

use fedround_exec::{CompileError, Program};
use fedround_passes::report::wire;
use fedround_passes::schedule::{Runs, runs};
use fedround_passes::tensor::cost;
use fedround_random::{Purpose, StreamKey};

use super::Faults;

/// The parts of random keys that distinguish the draws for [`Purpose::Faults`].
const SPEED: usize = 0;
const BANDWIDTH: usize = 1;
const FAILURE: usize = 2;

/// What a client computes and sends in a round. It follows from the graphs of the program, before the round runs.
pub(crate) struct Workload {
    /// The segments of client code: how often each runs, and its number of floating-point operations.
    segments: Vec<(Runs, u64)>,
    /// The bytes of uploads and downloads. Features, labels and visits are not counted, because their sizes are known
    /// only at run time.
    bytes: usize,
}

impl Workload {
    /// The workload of a program.
    pub fn of(program: &Program) -> Result<Self, CompileError> {
        let graphs = program.graphs(program.batch_size())?;
        let segments = runs(program.schedule()).into_iter().zip(&graphs);
        let segments = segments.filter(|(runs, _)| runs.on_clients);
        let rows = wire(program.linked());
        Ok(Self {
            segments: segments
                .map(|(runs, graph)| (runs, cost(graph).flops))
                .collect(),
            bytes: rows.iter().filter_map(|row| row.bytes(program)).sum(),
        })
    }

    /// The floating-point operations of a client with `examples` examples.
    fn flops(&self, examples: usize) -> f64 {
        let segments = self.segments.iter();
        let flops =
            segments.map(|(runs, flops)| *flops as f64 * runs.loops.full_batches(examples as u64));
        flops.sum()
    }
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
        let seconds = self.seconds(client, examples, key);
        match self.faults.deadline {
            Some(deadline) if seconds > deadline => Fate::Late,
            _ => Fate::Arrives(seconds),
        }
    }

    /// The virtual seconds that a client's round takes, whether it fails or not.
    pub fn duration(&self, client: usize, examples: usize) -> f64 {
        let key = StreamKey::new(self.seed, Purpose::Faults);
        self.seconds(client, examples, key)
    }

    /// The virtual seconds that a client's round takes: for computing, and for uploads and downloads.
    fn seconds(&self, client: usize, examples: usize, key: StreamKey) -> f64 {
        let speed = self.faults.speed.as_ref();
        let speed = speed.map(|of| of.of(client, key.with(SPEED).with(client)));
        let bandwidth = self.faults.bandwidth.as_ref();
        let bandwidth = bandwidth.map(|of| of.of(client, key.with(BANDWIDTH).with(client)));
        let computing = speed.map_or(0.0, |speed| self.workload.flops(examples) / (1e9 * speed));
        let bits = 8.0 * self.workload.bytes as f64;
        computing + bandwidth.map_or(0.0, |bandwidth| bits / (1e6 * bandwidth))
    }
}
