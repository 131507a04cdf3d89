//! Values on the server.

use std::fmt;
use std::marker::PhantomData;

use fedround_ir::fed::Value;

use crate::graph::Graph;
use crate::wire::{hold, sealed};

/// One value on the server: `T@server`.
///
/// Client code cannot use it: send it with [`Server::broadcast`] and take it as the argument of
/// [`Clients::map`](crate::Clients::map)'s closure.
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

hold!(
    /// One value on the server: [`Server`].
    OnServer, Server
);

impl<T> sealed::Sealed for Server<T> {}
