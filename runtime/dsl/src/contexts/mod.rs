//! The contexts of server code and of client code.

mod client;
mod server;

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Value};

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
    fn read(&self, name: &str, kind: Kind, loc: Loc) -> Value;
    #[doc(hidden)]
    fn read_or(&self, name: &str, first: Value, loc: Loc) -> Value;
    #[doc(hidden)]
    fn write(&self, name: &str, value: Value, loc: Loc);
}
