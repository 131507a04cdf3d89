//! Public examples, which the server and every client have.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Kind, Value};

use crate::graph::Graph;
use crate::rows::RowOps;
use crate::wire::Wire;
use crate::{Count, Labels, Tensor};

/// Examples that the server and every client have before the first round; see [`PublicData::public`].
/// Reading them sends nothing.
#[derive(Clone, Debug)]
pub struct PublicExamples {
    /// Inputs, `[examples, …]`.
    pub x: Tensor,
    /// Class labels, `[examples]`.
    pub y: Labels,
    graph: Graph,
    /// How many a round reads; all without.
    count: Option<Value>,
}

impl PublicExamples {
    fn new(graph: &Graph, count: Option<Value>) -> Self {
        Self {
            x: Tensor::column(graph, op("x", Kind::Tensor), count),
            y: Labels::column(graph, op("y", Kind::Labels), count),
            graph: graph.clone(),
            count,
        }
    }

    /// Another column of the data, of floats: `[examples, …]`.
    #[track_caller]
    pub fn tensor(&self, column: &str) -> Tensor {
        let (op, count) = (op(column, Kind::Tensor), self.count.as_slice());
        Tensor::of_op(&self.graph, op, count, Loc::caller())
    }

    /// Another column of the data, of integers, such as the words of a sentence: `[examples, …]`.
    #[track_caller]
    pub fn labels(&self, column: &str) -> Labels {
        let (op, count) = (op(column, Kind::Labels), self.count.as_slice());
        Labels::of_op(&self.graph, op, count, Loc::caller())
    }
}

fn op(column: &str, kind: Kind) -> FedOp {
    FedOp::Public(column.to_owned(), kind)
}

/// Code that may read public examples: a client's, and the server's. A run sets them aside from the
/// training examples (`--public-share`), or is given them.
pub trait PublicData: RowOps {
    /// All public examples.
    fn public(&self) -> PublicExamples {
        PublicExamples::new(self.graph(), None)
    }

    /// `n` public examples, or all where there are fewer. They are drawn anew in each round, and are the
    /// same ones for the server and for every client.
    fn public_of_round(&self, n: impl Count) -> PublicExamples {
        let count = n.into_index().value_in(self.graph());
        PublicExamples::new(self.graph(), Some(count))
    }
}

impl PublicData for crate::ClientCx {}
impl PublicData for crate::ServerComputeCx {}
impl PublicData for crate::PerClientCx {}
