//! Which values may cross between server and clients.

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Value};

use crate::graph::{Graph, only};
use crate::{Clients, Params, Released, Scalar};

pub(crate) mod sealed {
    /// Closes the traits of values and places.
    pub trait Sealed {}
    impl Sealed for crate::Params {}
    impl Sealed for crate::Scalar {}
    impl Sealed for crate::Released {}
    impl<T> Sealed for crate::Server<T> {}
    impl Sealed for crate::ClientCx {}
    impl Sealed for crate::ServerCx {}
    impl<A: Sealed, B: Sealed> Sealed for (A, B) {}
    impl<A: Sealed, B: Sealed, C: Sealed> Sealed for (A, B, C) {}
}

/// A value that may be placed on the server or on all clients of a cohort: [`Params`], [`Scalar`],
/// or [`Released`] features.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be placed on the server or on a cohort",
    label = "only `Params`, `Scalar` and `Released` features cross between server and clients",
    note = "labels and batches are examples and stay on their client"
)]
pub trait Wire: sealed::Sealed + Clone + 'static {
    /// Its kind in the graph.
    #[doc(hidden)]
    const KIND: Kind;
    /// The handle of a value.
    #[doc(hidden)]
    fn bind(graph: &Graph, value: Value) -> Self;
    /// The value of a handle, staged now if it was not before.
    #[doc(hidden)]
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value;
}

/// What a closure of [`Clients::map`] may return: a [`Params`], a [`Scalar`], features that were
/// [released](crate::Features::release), or two or three of them as a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot leave a client",
    label = "expected `Params`, `Scalar` or a tuple of them from the closure of `map`",
    note = "labels and batches are examples and stay on their client; features may leave it by `x.release(\"why they may\")`"
)]
pub trait Upload: sealed::Sealed {
    /// One value for each client: `Clients<T>`, or a tuple of them.
    type Clients;
    /// The values that the map's region yields.
    #[doc(hidden)]
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
    /// The handles of the map's results.
    #[doc(hidden)]
    fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients;
}

macro_rules! upload_one {
    ($($ty:ty),*) => {$(
        impl Upload for $ty {
            type Clients = Clients<$ty>;
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![self.value_in(graph, loc)]
            }
            fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients {
                Clients::new(graph, only(values))
            }
        }
    )*};
}
upload_one!(Params, Scalar, Released);

macro_rules! upload_tuple {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: Wire),*> Upload for ($($ty,)*) {
            type Clients = ($(Clients<$ty>,)*);
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![$(self.$index.value_in(graph, loc)),*]
            }
            fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients {
                ($(Clients::<$ty>::new(graph, only(values.get($index..).unwrap_or_default())),)*)
            }
        }
    };
}
upload_tuple!(A 0, B 1);
upload_tuple!(A 0, B 1, C 2);
