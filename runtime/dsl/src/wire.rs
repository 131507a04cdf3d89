//! The types of values that may cross between server and clients.

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, OpKind, Value};

use crate::graph::{Graph, only};

pub(crate) mod sealed {
    /// Closes the traits of values and places.
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T: Sealed> Sealed for Vec<T> {}
}

/// A value that may be placed on the server or on all clients of a cohort: [`Params`](crate::Params), [`Scalar`](crate::Scalar),
/// features and labels. What may leave a client is [`Upload`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be placed on the server or on a cohort",
    label = "only `Params`, `Scalar` and `Released` features or labels cross between server and clients",
    note = "batches are examples and stay on their client",
    note = "write a plain number as `Scalar::from(1.0)`; `scalar_state_or(\"name\", 1.0)` reads a number that is 1 before it is first set"
)]
pub trait Wire: sealed::Sealed + Clone + 'static {
    /// Its kind in the graph.
    #[doc(hidden)]
    const KIND: Kind;
    /// The handle of a value.
    #[doc(hidden)]
    fn bind(graph: &Graph, value: Value) -> Self;
    /// The result of an op.
    #[doc(hidden)]
    fn of_op(graph: &Graph, kind: impl Into<OpKind>, operands: &[Value], loc: Loc) -> Self {
        Self::bind(graph, graph.op(kind, operands, loc))
    }
    /// The value of a handle, staged now if it was not before.
    #[doc(hidden)]
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value;
}

/// Where the results of code are: on all clients, gathered on the server, or one on the server.
#[doc(hidden)]
pub trait Hold {
    /// A `T` there.
    type Of<T: Wire>;
    /// Its handle.
    fn hold<T: Wire>(graph: &Graph, value: Value) -> Self::Of<T>;
}

/// Implements a handle of a value at some place, and declares the marker of results there. The struct
/// itself is written out, so that messages of rustc show it.
macro_rules! hold {
    ($of:ident, $(#[$marker_doc:meta])* $marker:ident) => {
        // Derived, these would ask the same of `T`.
        impl<T> Clone for $of<T> {
            fn clone(&self) -> Self {
                Self::new(&self.graph, self.value)
            }
        }

        impl<T> std::fmt::Debug for $of<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($of), self.value.0)
            }
        }

        impl<T> $of<T> {
            pub(crate) fn new(
                graph: &$crate::graph::Graph,
                value: fedround_ir::fed::Value,
            ) -> Self {
                Self {
                    graph: graph.clone(),
                    value,
                    kind: std::marker::PhantomData,
                }
            }

            /// The result of an op.
            pub(crate) fn of_op(
                graph: &$crate::graph::Graph,
                kind: impl Into<fedround_ir::fed::OpKind>,
                operands: &[fedround_ir::fed::Value],
                loc: fedround_ir::Loc,
            ) -> Self {
                Self::new(graph, graph.op(kind, operands, loc))
            }
        }

        $(#[$marker_doc])*
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub enum $marker {}
        impl $crate::wire::Hold for $marker {
            type Of<T: $crate::wire::Wire> = $of<T>;
            fn hold<T: $crate::wire::Wire>(
                graph: &$crate::graph::Graph,
                value: fedround_ir::fed::Value,
            ) -> $of<T> {
                $of::new(graph, value)
            }
        }
    };
}
pub(crate) use hold;

/// What code on the server may give: a [`Params`](crate::Params), a [`Scalar`](crate::Scalar), features or labels (there they are
/// derived from released ones), or a tuple of 2 to 12 of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of code on the server",
    label = "expected `Params`, `Scalar`, `Tensor`, `Labels` or a tuple of 2 to 12 of them"
)]
pub trait Computed: sealed::Sealed {
    /// Its values somewhere.
    #[doc(hidden)]
    type At<H: Hold>;
    /// The values that the region yields.
    #[doc(hidden)]
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
    /// The handles of the results.
    #[doc(hidden)]
    fn bind_all<H: Hold>(graph: &Graph, values: &[Value]) -> Self::At<H>;
}

/// What a closure of [`Clients::map`](crate::Clients::map) may return: a [`Params`](crate::Params), a [`Scalar`](crate::Scalar), features or labels
/// that were [released](crate::Tensor::release), a tuple of 2 to 12 of them, or nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot leave a client",
    label = "expected `Params`, `Scalar` or a tuple of 2 to 12 of them from the closure of `map`",
    note = "of more values, return some from a second `map` over the same cohort",
    note = "batches are examples and stay on their client; features and labels may leave it by `x.release(\"why they may\")`"
)]
pub trait Upload: Computed {}

/// A wire value is computed as itself.
macro_rules! computed {
    ($($ty:ty),*) => {$(
        impl $crate::wire::Computed for $ty {
            type At<H: $crate::wire::Hold> = H::Of<Self>;
            fn values(&self, graph: &$crate::graph::Graph, loc: Loc) -> Vec<Value> {
                vec![self.value_in(graph, loc)]
            }
            fn bind_all<H: $crate::wire::Hold>(
                graph: &$crate::graph::Graph,
                values: &[Value],
            ) -> Self::At<H> {
                H::hold(graph, $crate::graph::only(values))
            }
        }
    )*};
}
pub(crate) use computed;

/// Nothing: code that keeps a state and sends nothing.
impl Computed for () {
    type At<H: Hold> = ();
    fn values(&self, _: &Graph, _: Loc) -> Vec<Value> {
        vec![]
    }
    fn bind_all<H: Hold>(_: &Graph, _: &[Value]) {}
}
impl Upload for () {}

/// A list of values, one for each number: see [`list`](crate::list()).
impl<T: Wire> Computed for Vec<T> {
    type At<H: Hold> = Vec<H::Of<T>>;
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
        let each = self.iter().map(|value| value.value_in(graph, loc));
        each.collect()
    }
    fn bind_all<H: Hold>(graph: &Graph, values: &[Value]) -> Self::At<H> {
        let each = values.iter().map(|value| H::hold::<T>(graph, *value));
        each.collect()
    }
}
impl<T: Wire + Upload> Upload for Vec<T> {}

macro_rules! tuple {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: sealed::Sealed),*> sealed::Sealed for ($($ty,)*) {}
        impl<$($ty: Wire),*> Computed for ($($ty,)*) {
            type At<H: Hold> = ($(H::Of<$ty>,)*);
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![$(self.$index.value_in(graph, loc)),*]
            }
            fn bind_all<H: Hold>(graph: &Graph, values: &[Value]) -> Self::At<H> {
                ($(H::hold::<$ty>(graph, only(values.get($index..).unwrap_or_default())),)*)
            }
        }
        impl<$($ty: Wire + Upload),*> Upload for ($($ty,)*) {}
    };
}
/// Implements the traits for tuples of two values up to all that are listed.
macro_rules! tuples {
    ($($head:ident $i:tt),*;) => {
        tuple!($($head $i),*);
    };
    ($($head:ident $i:tt),*; $next:ident $j:tt $(, $rest:ident $k:tt)*) => {
        tuple!($($head $i),*);
        tuples!($($head $i,)* $next $j; $($rest $k),*);
    };
}
tuples!(A 0, B 1; C 2, D 3, E 4, F 5, G 6, I 7, J 8, K 9, L 10, M 11);
