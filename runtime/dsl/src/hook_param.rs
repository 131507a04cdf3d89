//! The parameters and results of hooks: contexts and handles of values.

use fedround_ir::Loc;
use fedround_ir::fed::Value;

use crate::graph::{Graph, next};
use crate::wire::Wire;
use crate::{
    Batch, ClientCx, Clients, Labels, Params, Scalar, Server, ServerComputeCx, ServerCx, Tensor,
};

/// A context or a value's handle.
pub(crate) trait Handle {
    /// The handle for the hook's next argument. The contexts of the server take none.
    fn bind(graph: &Graph, args: &mut impl Iterator<Item = Value>) -> Self;
    /// The operand that it is in a call, if it is one.
    fn operand(&self, graph: &Graph, loc: Loc) -> Option<Value>;
}

/// A hook's parameter as it is declared: a handle, or a reference to one.
pub(crate) trait HookParam<'h> {
    /// The handle.
    type Handle: Handle;
    /// The parameter. Cloning a handle copies no tensors.
    fn of(handle: &'h Self::Handle) -> Self;
}

impl<'h, T: Handle> HookParam<'h> for &'h T {
    type Handle = T;
    fn of(handle: &'h T) -> Self {
        handle
    }
}

macro_rules! owned {
    ($($ty:ty),*) => {$(
        impl HookParam<'_> for $ty {
            type Handle = Self;
            fn of(handle: &Self) -> Self {
                handle.clone()
            }
        }
    )*};
}
owned!(Params, Server<Params>, Clients<Params>);

macro_rules! server_contexts {
    ($($ty:ident),*) => {$(
        impl Handle for $ty {
            fn bind(graph: &Graph, _: &mut impl Iterator<Item = Value>) -> Self {
                Self::new(graph)
            }
            fn operand(&self, _: &Graph, _: Loc) -> Option<Value> {
                None
            }
        }
    )*};
}
server_contexts!(ServerCx, ServerComputeCx);

macro_rules! values {
    ($($ty:ty),*) => {$(
        impl Handle for $ty {
            fn bind(graph: &Graph, args: &mut impl Iterator<Item = Value>) -> Self {
                <$ty as Wire>::bind(graph, next(args))
            }
            fn operand(&self, graph: &Graph, loc: Loc) -> Option<Value> {
                Some(self.value_in(graph, loc))
            }
        }
    )*};
}
values!(Params, Scalar, Tensor, Labels);

impl Handle for ClientCx {
    fn bind(graph: &Graph, args: &mut impl Iterator<Item = Value>) -> Self {
        Self::new(graph, next(args))
    }
    fn operand(&self, _: &Graph, _: Loc) -> Option<Value> {
        Some(self.value)
    }
}

impl Handle for Batch {
    fn bind(graph: &Graph, args: &mut impl Iterator<Item = Value>) -> Self {
        Self::new(graph, next(args))
    }
    fn operand(&self, _: &Graph, _: Loc) -> Option<Value> {
        Some(self.value)
    }
}

impl Handle for Server<Params> {
    fn bind(graph: &Graph, args: &mut impl Iterator<Item = Value>) -> Self {
        Self::new(graph, next(args))
    }
    fn operand(&self, graph: &Graph, loc: Loc) -> Option<Value> {
        graph.same(&self.graph, "the server's parameters", loc);
        Some(self.value)
    }
}

impl Handle for Clients<Params> {
    fn bind(graph: &Graph, args: &mut impl Iterator<Item = Value>) -> Self {
        Self::new(graph, next(args))
    }
    fn operand(&self, graph: &Graph, loc: Loc) -> Option<Value> {
        Some(self.value_in(graph, loc))
    }
}
