//! Which values may cross between server and clients.

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Value};

use crate::graph::{Graph, only};
use crate::{Clients, Params, Released, Scalar};

pub(crate) mod sealed {
    /// Closes [`super::Wire`] and [`super::Upload`].
    pub trait Sealed {}
    impl Sealed for crate::Params {}
    impl Sealed for crate::Scalar {}
    impl Sealed for crate::Features {}
    impl<T> Sealed for crate::Released<T> {}
    impl<A: Sealed, B: Sealed> Sealed for (A, B) {}
    impl<A: Sealed, B: Sealed, C: Sealed> Sealed for (A, B, C) {}
}

/// A value that may be placed on the server or on all clients of a cohort: [`Params`], [`Scalar`],
/// or [`Features`](crate::Features) that were [released](crate::Features::release).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be placed on the server or on a cohort",
    label = "only `Params`, `Scalar` and released `Features` cross between server and clients",
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
    /// How many values it is.
    #[doc(hidden)]
    const LEN: usize;
    /// The values that the map's region yields.
    #[doc(hidden)]
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
    /// The handles of the map's results.
    #[doc(hidden)]
    fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients;
}

/// What a client may give away as it is.
macro_rules! upload_one {
    ($($ty:ty),*) => {$(
        impl Upload for $ty {
            type Clients = Clients<$ty>;
            const LEN: usize = 1;
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![self.value_in(graph, loc)]
            }
            fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients {
                Clients::new(graph, only(values))
            }
        }
    )*};
}
upload_one!(Params, Scalar);

impl<T: Wire> Upload for Released<T> {
    type Clients = Clients<T>;
    const LEN: usize = 1;
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
        vec![self.0.value_in(graph, loc)]
    }
    fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients {
        Clients::new(graph, only(values))
    }
}

macro_rules! upload_tuple {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: Upload),*> Upload for ($($ty,)*) {
            type Clients = ($($ty::Clients,)*);
            const LEN: usize = 0 $(+ $ty::LEN)*;
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                [$(self.$index.values(graph, loc)),*].concat()
            }
            fn bind_all(graph: &Graph, values: &[Value]) -> Self::Clients {
                let mut values = values.iter().copied();
                ($({
                    let own: Vec<Value> = values.by_ref().take($ty::LEN).collect();
                    $ty::bind_all(graph, &own)
                },)*)
            }
        }
    };
}
upload_tuple!(A 0, B 1);
upload_tuple!(A 0, B 1, C 2);
