//! Mini-batches in client code.

use std::rc::Rc;

use fedround_ir::Loc;
use fedround_ir::fed::{ExternalOp, Kind, Value};

use crate::graph::Graph;
use crate::wire::{Wire, computed, sealed};

/// A mini-batch of a client's examples. It stays on the client.
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
        Tensor::of_op(&self.graph, op, &[self.value], Loc::caller())
    }

    /// Another column of the data, of integers, such as the words of a sentence: `[examples, …]`.
    #[track_caller]
    pub fn labels(&self, column: &str) -> Labels {
        let op = ExternalOp::Column(column.to_owned(), Kind::Labels);
        Labels::of_op(&self.graph, op, &[self.value], Loc::caller())
    }
}

/// A float tensor derived from examples: inputs, features or logits. It stays on the client, unless it is
/// [released](Tensor::release).
#[derive(Clone, Debug)]
pub struct Tensor(Part);

/// The class labels of examples. They stay on the client, unless they are [released](Labels::release).
#[derive(Clone, Debug)]
pub struct Labels(Part);

/// A column of a batch is staged where it is read, so that a hook that ignores its batch has no op for it.
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

macro_rules! rows {
    ($($ty:ident),*) => {$(
        impl $ty {
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

        impl sealed::Sealed for $ty {}
    )*};
}
rows!(Tensor, Labels);
computed!(Tensor, Labels);
