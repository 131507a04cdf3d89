//! The contexts of server code and of client code.

mod client;
mod server;

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, LocalName, Value};

use crate::graph::Graph;
use crate::tree::Tree;
use crate::wire::sealed;

pub use client::ClientCx;
pub use server::ServerCx;

/// A context that keeps values between rounds: the server, or a client for itself.
pub trait StateAccess: sealed::Sealed {
    /// Parameters there.
    type Params: Tree;
    #[doc(hidden)]
    fn graph(&self) -> &Graph;
    #[doc(hidden)]
    fn read<'a>(&self, name: impl Into<LocalName<'a>>, kind: Kind, loc: Loc) -> Value;
    #[doc(hidden)]
    fn read_or<'a>(&self, name: impl Into<LocalName<'a>>, first: Value, loc: Loc) -> Value;
    #[doc(hidden)]
    fn write<'a>(&self, name: impl Into<LocalName<'a>>, value: Value, loc: Loc);
}
