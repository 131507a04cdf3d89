//! Draws the fate of a client that is called in a round: it fails, is late, or arrives.

use fedround_exec::{CompileError, Program};
use fedround_passes::report::wire;
use fedround_passes::schedule::{Runs, runs};
use fedround_passes::tensor::cost;
use fedround_random::{Purpose, StreamKey};

use super::Faults;

/// Parts of keys of [`Purpose::Faults`].
const SPEED: usize = 0;
const BANDWIDTH: usize = 1;
const FAILURE: usize = 2;

/// What a client computes and sends in a round, as the graphs of a program tell before it runs.
pub(crate) struct Work {
    /// Segments of client code: how often each runs, and its floating-point operations.
    segments: Vec<(Runs, u64)>,
    /// Both ways. Features, labels and visits, whose sizes are known only when they are there, are not
    /// counted.
    bytes: usize,
}

impl Work {
    /// That of a program.
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

    /// Floating-point operations of a client with so many examples.
    fn flops(&self, examples: usize) -> f64 {
        let segments = self.segments.iter();
        let flops =
            segments.map(|(runs, flops)| *flops as f64 * runs.full_batches(examples as u64));
        flops.sum()
    }
}

/// The fates of a round's clients.
#[derive(Clone, Copy)]
pub(crate) struct Fates<'a> {
    pub faults: &'a Faults,
    pub work: &'a Work,
    pub seed: u64,
    pub round: usize,
}

/// What becomes of a client that is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Fails,
    /// After the deadline.
    Late,
    /// After so many virtual seconds.
    Arrives(f64),
}

impl Fates<'_> {
    /// That of a client with so many examples.
    pub fn of(&self, client: usize, examples: usize) -> Fate {
        let key = StreamKey::new(self.seed, Purpose::Faults);
        let failure = key.with(FAILURE).with(self.round).with(client);
        // Below 1, so that at 0 nobody fails.
        if failure.stream().unit() < self.faults.dropout {
            return Fate::Fails;
        }
        let seconds = self.seconds(client, examples, key);
        match self.faults.deadline {
            Some(deadline) if seconds > deadline => Fate::Late,
            _ => Fate::Arrives(seconds),
        }
    }

    /// The virtual time of a client's round, whether it fails or not.
    pub fn duration(&self, client: usize, examples: usize) -> f64 {
        let key = StreamKey::new(self.seed, Purpose::Faults);
        self.seconds(client, examples, key)
    }

    /// The virtual time of a client's round.
    fn seconds(&self, client: usize, examples: usize, key: StreamKey) -> f64 {
        let speed = self.faults.speed.as_ref();
        let speed = speed.map(|of| of.of(client, key.with(SPEED).with(client)));
        let bandwidth = self.faults.bandwidth.as_ref();
        let bandwidth = bandwidth.map(|of| of.of(client, key.with(BANDWIDTH).with(client)));
        let computing = speed.map_or(0.0, |speed| self.work.flops(examples) / (1e9 * speed));
        let bits = 8.0 * self.work.bytes as f64;
        computing + bandwidth.map_or(0.0, |bandwidth| bits / (1e6 * bandwidth))
    }
}
