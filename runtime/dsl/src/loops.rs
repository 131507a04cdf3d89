//! Staged loops: what `#[federated]` makes of `for`.

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, OpKind, Type, Value};

use crate::graph::{Graph, only};
use crate::wire::Wire;
use crate::{Batch, Index, Params, Scalar, Server};

/// A client's batches; see [`ClientCx::batches`](crate::ClientCx::batches).
///
/// A `for` loop over it is staged, not run, and so needs `#[federated]` on the impl around it.
#[derive(Clone, Debug)]
pub struct Batches<Inside = Unrewritten> {
    graph: Graph,
    client: Value,
    epochs: Index,
    size: Index,
    loc: Loc,
    inside: std::marker::PhantomData<Inside>,
}

/// Marks [`Batches`] as not rewritten by `#[federated]`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Unrewritten;

/// Never implemented: gives `for b in k.batches(..)` outside `#[federated]` a message that helps.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`Batches` is not an iterator: a loop over batches is staged by `#[federated]`",
    label = "needs `#[federated]` on the impl around this loop",
    note = "write `for b in k.batches(epochs, size) {{ .. }}` directly in a method of a `#[federated] impl Algorithm for ..`, not in a helper function or closure outside it"
)]
pub trait InsideFederated {}

// Through `Iterator`, not `IntoIterator`: only then does rustc name the bound that is not met.
impl<Inside: InsideFederated> Iterator for Batches<Inside> {
    type Item = Batch;
    fn next(&mut self) -> Option<Batch> {
        None
    }
}

impl Batches {
    pub(crate) fn new(graph: &Graph, client: Value, epochs: Index, size: Index, loc: Loc) -> Self {
        Self {
            graph: graph.clone(),
            client,
            epochs,
            size,
            loc,
            inside: std::marker::PhantomData,
        }
    }
}

/// A number of equal steps, from `for _ in 0..n`.
#[derive(Clone, Debug)]
pub struct Repeat {
    times: Index,
    loc: Loc,
}

/// A number of equal steps: what `0..n` becomes in a staged loop.
#[track_caller]
pub fn range(times: impl Into<Index>) -> Repeat {
    Repeat {
        times: times.into(),
        loc: Loc::caller(),
    }
}

/// What a `for` loop of a spec may run over.
#[diagnostic::on_unimplemented(
    message = "a staged loop cannot run over `{Self}`",
    label = "expected `k.batches(epochs, size)` or a range `0..n`"
)]
pub trait StagedLoop {
    /// What the loop's pattern binds: the batch, or nothing for a range (its steps are equal).
    type Item;
    /// Stages the loop.
    #[doc(hidden)]
    fn stage<C: Carried>(self, carried: C, body: impl FnMut(Self::Item, C) -> C) -> C;
}

impl StagedLoop for Batches {
    type Item = Batch;

    fn stage<C: Carried>(self, carried: C, mut body: impl FnMut(Batch, C) -> C) -> C {
        let (graph, loc) = (&self.graph, self.loc);
        let mut operands = vec![
            self.client,
            self.epochs.value_in(graph),
            self.size.value_in(graph),
        ];
        let first = carried.values(graph, loc);
        let mut types = vec![Type {
            kind: Kind::Batch,
            place: graph.place(),
        }];
        types.extend(graph.types(&first));
        operands.extend(first);
        let args = graph.open(&types, graph.place());
        let batch = Batch::new(graph, only(&args));
        let next = body(batch, C::bind(graph, args.get(1..).unwrap_or_default()));
        let region = graph.close(next.values(graph, loc), loc);
        C::bind(
            graph,
            &graph.op_with(OpKind::ForBatches, &operands, region, loc),
        )
    }
}

impl StagedLoop for Repeat {
    type Item = ();

    fn stage<C: Carried>(self, carried: C, mut body: impl FnMut((), C) -> C) -> C {
        let loc = self.loc;
        let Some(graph) = carried.graph() else {
            // Constants and hyper-parameters only: no place to stage a loop at, and a known count.
            return (0..self.times.count()).fold(carried, |carried, _| body((), carried));
        };
        let mut operands = vec![self.times.value_in(&graph)];
        let first = carried.values(&graph, loc);
        let types = graph.types(&first);
        operands.extend(first);
        let args = graph.open(&types, graph.place());
        let next = body((), C::bind(&graph, &args));
        let region = graph.close(next.values(&graph, loc), loc);
        C::bind(
            &graph,
            &graph.op_with(OpKind::Repeat, &operands, region, loc),
        )
    }
}

/// Stages `for pattern in iter { body }` with the variables that the body assigns.
pub fn for_each<L: StagedLoop, C: Carried>(
    iter: L,
    carried: C,
    body: impl FnMut(L::Item, C) -> C,
) -> C {
    iter.stage(carried, body)
}

/// A variable that a staged loop may assign.
#[diagnostic::on_unimplemented(
    message = "a variable of type `{Self}` cannot be assigned in a staged loop",
    label = "expected `Params`, `Scalar`, `Server<Params>` or `Server<Scalar>`",
    note = "declare it inside the loop, or carry parameters and scalars only"
)]
pub trait CarriedValue: Clone {
    /// Its graph, if it has one yet.
    #[doc(hidden)]
    fn graph(&self) -> Option<Graph>;
    /// Its value, staged now if it was not before.
    #[doc(hidden)]
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value;
    /// The handle of a value.
    #[doc(hidden)]
    fn bind(graph: &Graph, value: Value) -> Self;
}

impl CarriedValue for Params {
    fn graph(&self) -> Option<Graph> {
        Some(self.graph.clone())
    }
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        Wire::value_in(self, graph, loc)
    }
    fn bind(graph: &Graph, value: Value) -> Self {
        Wire::bind(graph, value)
    }
}

impl CarriedValue for Scalar {
    fn graph(&self) -> Option<Graph> {
        Self::graph(self).cloned()
    }
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        Wire::value_in(self, graph, loc)
    }
    fn bind(graph: &Graph, value: Value) -> Self {
        Wire::bind(graph, value)
    }
}

impl<T: Wire> CarriedValue for Server<T> {
    fn graph(&self) -> Option<Graph> {
        Some(self.graph.clone())
    }
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        graph.same(&self.graph, "a loop", loc);
        self.value
    }
    fn bind(graph: &Graph, value: Value) -> Self {
        Self::new(graph, value)
    }
}

/// The variables that a staged loop assigns, as a tuple of one to six.
#[diagnostic::on_unimplemented(
    message = "these variables cannot be carried through a staged loop: `{Self}`",
    note = "a staged loop assigns one to six variables, each `Params`, `Scalar` or placed on the server"
)]
pub trait Carried {
    /// The graph of the first variable that has one.
    #[doc(hidden)]
    fn graph(&self) -> Option<Graph>;
    /// Their values.
    #[doc(hidden)]
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
    /// The handles of values.
    #[doc(hidden)]
    fn bind(graph: &Graph, values: &[Value]) -> Self;
}

macro_rules! carried {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: CarriedValue),*> Carried for ($($ty,)*) {
            fn graph(&self) -> Option<Graph> {
                None$(.or_else(|| self.$index.graph()))*
            }
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![$(self.$index.value_in(graph, loc)),*]
            }
            fn bind(graph: &Graph, values: &[Value]) -> Self {
                ($($ty::bind(graph, only(values.get($index..).unwrap_or_default())),)*)
            }
        }
    };
}
carried!(A 0);
carried!(A 0, B 1);
carried!(A 0, B 1, C 2);
carried!(A 0, B 1, C 2, D 3);
carried!(A 0, B 1, C 2, D 3, E 4);
carried!(A 0, B 1, C 2, D 3, E 4, F 5);
