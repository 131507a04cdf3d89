//! Values on the server.

use std::fmt;
use std::marker::PhantomData;

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Value};

use crate::graph::Graph;
use crate::wire::Wire;
use crate::{Clients, Cohort};

/// One value on the server: `T@server`.
///
/// Client code cannot use it: send it with [`Server::broadcast`] and take it as the argument of
/// [`Clients::map`]'s closure.
pub struct Server<T> {
    pub(crate) graph: Graph,
    pub(crate) value: Value,
    kind: PhantomData<T>,
}

impl<T> Clone for Server<T> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            value: self.value,
            kind: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Server<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.value.0)
    }
}

impl<T> Server<T> {
    pub(crate) fn new(graph: &Graph, value: Value) -> Self {
        Self {
            graph: graph.clone(),
            value,
            kind: PhantomData,
        }
    }
}

impl<T: Wire> Server<T> {
    /// Sends the value to every client of a cohort.
    #[track_caller]
    pub fn broadcast(&self, cohort: &Cohort) -> Clients<T> {
        let loc = Loc::caller();
        self.graph.same(&cohort.graph, "broadcast", loc);
        Clients::new(
            &self.graph,
            self.graph
                .op(FedOp::Broadcast, &[self.value, cohort.value], loc),
        )
    }
}
