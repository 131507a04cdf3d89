//! Mini-batches in client code.

use std::rc::Rc;

use fedround_ir::Loc;
use fedround_ir::fed::{ExternalOp, Kind, OpKind, Value};

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
        let column = |name: &str, kind| ExternalOp::Column(name.to_owned(), kind);
        Self {
            x: Tensor::column(graph, column("x", Kind::Tensor), Some(value)),
            y: Labels::column(graph, column("y", Kind::Labels), Some(value)),
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
    /// A column, and what it is of.
    Column(Rc<OpKind>, Option<Value>),
    Value(Value),
}

impl Part {
    fn stage(&self, graph: &Graph, loc: Loc) -> Value {
        graph.same(&self.graph, "a batch", loc);
        match &self.of {
            Of::Column(op, of) => graph.op((**op).clone(), of.as_slice(), loc),
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

            /// A column of `of`, which is staged where it is read.
            pub(crate) fn column(
                graph: &Graph,
                op: impl Into<OpKind>,
                of: Option<Value>,
            ) -> Self {
                Self(Part {
                    graph: graph.clone(),
                    of: Of::Column(Rc::new(op.into()), of),
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
