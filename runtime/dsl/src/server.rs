//! Values on the server.

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

hold!(
    Server,
    /// One value on the server: [`Server`].
    OnServer
);

impl<T> sealed::Sealed for Server<T> {}
