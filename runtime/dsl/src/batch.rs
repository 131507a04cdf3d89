//! Mini-batches in client code.

use std::rc::Rc;

use fedround_ir::Loc;
use fedround_ir::fed::{ExternalOp, Kind, Value};

use crate::graph::Graph;
use crate::wire::{Wire, computed, sealed};

/// A mini-batch of a client's examples. Stays on the client.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Inputs, `[examples, …]`.
    pub x: Tensor,
    /// Class labels, `[examples]`.
    pub y: Labels,
    graph: Graph,
    pub(crate) value: Value,
}

impl Batch {
    pub(crate) fn new(graph: &Graph, value: Value) -> Self {
        let part = |op| Part {
            graph: graph.clone(),
            of: Of::Batch(value, Rc::new(op)),
        };
        Self {
            x: Tensor(part(ExternalOp::Column("x".to_owned(), Kind::Tensor))),
            y: Labels(part(ExternalOp::Column("y".to_owned(), Kind::Labels))),
            graph: graph.clone(),
            value,
        }
    }

    /// Another column of the data, of floats: `[examples, …]`.
    #[track_caller]
    pub fn tensor(&self, column: &str) -> Tensor {
        let op = ExternalOp::Column(column.to_owned(), Kind::Tensor);
        Tensor::new(&self.graph, self.graph.op(op, &[self.value], Loc::caller()))
    }

    /// Another column of the data, of integers, such as the words of a sentence: `[examples, …]`.
    #[track_caller]
    pub fn labels(&self, column: &str) -> Labels {
        let op = ExternalOp::Column(column.to_owned(), Kind::Labels);
        let value = self.graph.op(op, &[self.value], Loc::caller());
        Labels(Part {
            graph: self.graph.clone(),
            of: Of::Value(value),
        })
    }
}

/// A float tensor derived from examples: inputs, features or logits. Stays on the client, unless
/// it is [released](Tensor::release).
#[derive(Clone, Debug)]
pub struct Tensor(Part);

/// The class labels of examples. Stay on the client, unless they are
/// [released](Labels::release).
#[derive(Clone, Debug)]
pub struct Labels(Part);

/// Staged where it is read, so that a hook that ignores its batch has no op for it.
#[derive(Clone, Debug)]
struct Part {
    graph: Graph,
    of: Of,
}

#[derive(Clone, Debug)]
enum Of {
    Batch(Value, Rc<ExternalOp>),
    Value(Value),
}

impl Part {
    fn stage(&self, graph: &Graph, loc: Loc) -> Value {
        graph.same(&self.graph, "a batch", loc);
        match &self.of {
            Of::Batch(batch, op) => graph.op((**op).clone(), &[*batch], loc),
            Of::Value(value) => *value,
        }
    }
}

impl Tensor {
    pub(crate) fn new(graph: &Graph, value: Value) -> Self {
        Self(Part {
            graph: graph.clone(),
            of: Of::Value(value),
        })
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.0.graph
    }

    pub(crate) fn stage(&self, graph: &Graph, loc: Loc) -> Value {
        self.0.stage(graph, loc)
    }
}

impl Labels {
    pub(crate) fn new(graph: &Graph, value: Value) -> Self {
        Self(Part {
            graph: graph.clone(),
            of: Of::Value(value),
        })
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.0.graph
    }

    pub(crate) fn stage(&self, graph: &Graph, loc: Loc) -> Value {
        self.0.stage(graph, loc)
    }
}

computed!(Tensor, Labels);
impl sealed::Sealed for Tensor {}
impl sealed::Sealed for Labels {}
