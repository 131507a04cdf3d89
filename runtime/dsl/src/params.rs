//! A model's parameters in client code.

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Value};

use crate::graph::Graph;
use crate::wire::{Upload, Wire, computed, sealed};

/// A model's parameters in the code of a client: a tree of float tensors.
///
/// They have the algebra of a vector: `+`, `-`, `scalar * params`, [`Params::dot`] and
/// [`Params::sq_norm`] over all entries of all tensors but running statistics. Cloning copies a handle, not tensors.
#[derive(Clone, Debug)]
pub struct Params {
    pub(crate) graph: Graph,
    pub(crate) value: Value,
}

impl Wire for Params {
    const KIND: Kind = Kind::Params;

    fn bind(graph: &Graph, value: Value) -> Self {
        Self {
            graph: graph.clone(),
            value,
        }
    }

    fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        graph.same(&self.graph, "parameters", loc);
        self.value
    }
}

computed!(Params);
impl sealed::Sealed for Params {}
impl Upload for Params {}
