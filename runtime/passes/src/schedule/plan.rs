//! The data structures of a schedule.

use std::collections::HashMap;

use fedround_ir::fed::{HyperValue, Kind, Module, Op, Value};

/// A value that is known before the round: a hyper-parameter or a literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Free {
    /// The name of a hyper-parameter, which is an input of every segment that reads it; `None` of a literal.
    pub hyper: Option<String>,
    /// What it is.
    pub value: HyperValue,
}

/// Straight-line ops that become one tensor graph.
#[derive(Clone, Debug)]
pub struct Compute {
    /// The ops, in order.
    pub ops: Vec<Op>,
    /// The values from outside, in order of first use, without [`Free`] ones.
    pub ins: Vec<Value>,
    /// Values that code outside the segment reads.
    pub outs: Vec<Value>,
    /// The values among `ins` whose buffers a gradient of this segment updates, and that are read again.
    /// Later readers see the new buffers.
    pub advanced: Vec<Value>,
    /// Hyper-parameters and literals that it reads.
    pub free: Vec<Value>,
}

/// An op that the executor carries out.
#[derive(Clone, Debug)]
pub struct Control {
    /// The op; its regions are moved to `body`.
    pub op: Op,
    /// The block that it runs: once per client, per batch or per repetition.
    pub body: Option<Block>,
    /// Reductions that add up the results of a map client by client; see [`stream`](super::stream()).
    pub reductions: Vec<Op>,
    /// For a `repeat`: the index of a carried number that, once positive, makes further iterations unnecessary
    /// (as in a line search). The body of such a loop only computes and keeps a positive number as it is, and
    /// nothing reads the other results.
    pub settles: Option<usize>,
}

/// One entry of a block.
#[derive(Clone, Debug)]
pub enum Item {
    /// An op that the executor carries out.
    Control(Box<Control>),
    /// Index into [`Schedule::segments`].
    Compute(usize),
}

impl Item {
    /// The values that the entry and the code inside it read, with repetitions.
    pub(super) fn reads(&self, segments: &[Compute]) -> Vec<Value> {
        match self {
            Self::Compute(i) => segments[*i].ins.clone(),
            Self::Control(c) => {
                let mut reads = c.op.operands.clone();
                reads.extend(c.body.iter().flat_map(|body| body.reads(segments)));
                reads
            }
        }
    }
}

/// A region that was split into entries.
#[derive(Clone, Debug)]
pub struct Block {
    /// Values defined on entry.
    pub args: Vec<Value>,
    /// Entries in order, each with the values that it reads for the last time: those may be
    /// consumed, so that their buffers are reused.
    pub items: Vec<(Item, Vec<Value>)>,
    /// Values given to the parent.
    pub yields: Vec<Value>,
    /// For each yield, whether it may be moved instead of copied: the block defines it, and this is the
    /// last yield of it.
    pub moves: Vec<bool>,
}

impl Block {
    /// The values that its code reads, its own and those around it, with repetitions.
    pub fn reads(&self, segments: &[Compute]) -> Vec<Value> {
        let inner = self.items.iter();
        let reads = inner.flat_map(|(item, _)| item.reads(segments));
        reads.chain(self.yields.iter().copied()).collect()
    }
}

/// A linked module that was split into control operations and compute segments.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Types, hyper-parameters and layers.
    pub module: Module,
    /// The round.
    pub round: Block,
    /// Compute segments, in program order.
    pub segments: Vec<Compute>,
    /// Values known before the round.
    pub free: HashMap<Value, Free>,
    /// The columns that the code reads of a batch, by name and kind: a batch has these, in order.
    pub columns: Vec<(String, Kind)>,
}
