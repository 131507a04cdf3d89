//! `parties`: splits a scheduled round into the server's program and the regions that run at parties.
//!
//! A *region* is one map over clients: the code between what a client receives and what it sends. The
//! split says for each region which values come from the server with it, which stay at the party for a
//! later region of the same round, which are sent, and which states it reads and sets. Everything else is
//! the server's program. The split is derived from the schedule alone, so both sides of a federation
//! that compile the same algorithm have the same one.
//!
//! ```text
//! region 1
//!   settings   epochs, batch, lr
//!   receives   params1: params, the same for all, 4P bytes
//!   sends      params2: params, 4P bytes
//!              f32_1: f32, 4 bytes
//!   can sum    params2 by f32_1
//!   reports    losses, number of steps
//! ```

mod print;
mod reads;
mod regions;
mod split;
#[cfg(test)]
mod tests;

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Value};

use crate::fed::{Encoded, Leaves};

pub use split::split;

/// A round, divided between the server and the parties.
#[derive(Clone, Debug)]
pub struct Split {
    /// The name of the algorithm.
    pub name: String,
    /// The regions of the parties, in program order.
    pub regions: Vec<Region>,
    /// The server's program.
    pub server: Vec<ServerStep>,
}

/// A step of the server's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// An operation, in words.
    Op(String),
    /// The region with this index runs at the parties.
    Region(usize),
    /// Steps that are repeated.
    Loop(String, Vec<Self>),
}

/// Code that runs at a party for each client of a cohort.
#[derive(Clone, Debug)]
pub struct Region {
    /// The client's argument of the code, by which the schedule's map is found.
    pub client: Value,
    /// What its code is given, one entry for each operand of the map.
    pub inputs: Vec<Input>,
    /// What its code gives, one entry for each result of the map.
    pub outputs: Vec<Output>,
    /// The hyper-parameters that it reads. Both sides have them compiled in.
    pub settings: Vec<String>,
    /// The client states that it reads.
    pub reads: Vec<String>,
    /// The client states that it sets.
    pub sets: Vec<String>,
    /// Numbers of the round that it reads, such as its index.
    pub numbers: Vec<&'static str>,
    /// Sums over clients that a host can make of parameters that it would otherwise send of each of its
    /// clients. The server adds the hosts' sums up.
    pub sums: Vec<Sum>,
    /// Whether it evaluates the values of other clients, and so runs several times at a client and keeps
    /// no state.
    pub visits: bool,
    /// The place in the algorithm.
    pub loc: Loc,
}

impl Region {
    /// The first input that is the same value as this one, if an earlier one is. The value is sent once.
    pub fn first_input(&self, input: usize) -> Option<usize> {
        let value = self.inputs.get(input)?.value;
        let first = self.inputs.iter().position(|first| first.value == value);
        first.filter(|first| *first < input)
    }

    /// Whether a host can sum an output.
    pub fn is_summed(&self, output: usize) -> bool {
        self.sums.iter().any(|sum| sum.output == output)
    }
}

/// A host's part of a `fed.sum`, `fed.mean` or `fed.weighted_mean`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The reduction's place among those of the region's outputs.
    pub reduction: usize,
    /// The output that is summed, which nothing but such reductions reads.
    pub output: usize,
    /// The output by which each client's is multiplied; 1 without.
    pub weight: Option<usize>,
}

/// Who has a value before a region runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The server, which sends the same value to all clients.
    Broadcast,
    /// The server, which sends each client its own value.
    Scatter,
    /// The party: it is a result of the region with this index.
    Region(usize),
}

/// A value that a region's code is given.
#[derive(Clone, Debug)]
pub struct Input {
    /// The value in the schedule.
    pub value: Value,
    /// Its name, unique in the round.
    pub name: String,
    /// Parameters, a number, features or labels.
    pub kind: Kind,
    /// Where it comes from.
    pub source: Source,
    /// The index of an earlier region that was given the same value: the party has it from there.
    pub earlier: Option<usize>,
    /// Whether a later region is given it, too.
    pub keep: bool,
    /// The parameters that are not sent, because the party has them or does not read them.
    pub without: Leaves,
    /// The parameters among those that are zero; the others are those of the initial model.
    pub zero: Leaves,
    /// Bytes on the wire for each client, as in the wire table.
    pub bytes: String,
}

/// A value that a region's code gives.
#[derive(Clone, Debug)]
pub struct Output {
    /// The value in the schedule.
    pub value: Value,
    /// Its name, unique in the round.
    pub name: String,
    /// Parameters, a number, features or labels.
    pub kind: Kind,
    /// Whether it is sent to the server.
    pub send: bool,
    /// Whether a later region is given it.
    pub keep: bool,
    /// The parameters that are not sent, because the server sent them.
    pub without: Leaves,
    /// How it is encoded, if it is.
    pub encoded: Option<Encoded>,
    /// Bytes on the wire for each client, as in the wire table.
    pub bytes: String,
}

/// Why a round cannot be divided between a server and parties.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// Clients send to each other, and parties have no connection but that to the coordinator.
    #[error(
        "{loc}: clients send to each other here, but parties are connected only to the coordinator; run it with `fedround run`"
    )]
    Peers {
        /// Where they do.
        loc: Loc,
    },
    /// Code of clients reads a value that was not sent to them and that no code of clients made.
    #[error(
        "{loc}: code of clients reads a value that is neither sent to them nor theirs; broadcast it"
    )]
    NotSent {
        /// The map.
        loc: Loc,
    },
    /// The server takes updates as they arrive.
    #[error(
        "{loc}: updates arrive one by one on the virtual clock of a simulation; rounds between parties wait for a whole cohort, so run it with `fedround run`"
    )]
    Asynchronous {
        /// The arrivals.
        loc: Loc,
    },
}
