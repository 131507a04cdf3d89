//! Staged loops, which `#[federated]` makes of `for`.

use fedround_ir::Loc;
use fedround_ir::fed::{BuildError, Kind, OpKind, OptOp, Type, Value};

use crate::graph::{Graph, only};
use crate::loop_state::LoopState;
use crate::{Batch, Count, Index};

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

/// Never implemented. The bound gives `for b in k.batches(..)` outside of `#[federated]` a helpful message.
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

impl Repeat {
    pub(crate) fn at(times: &Index, loc: Loc) -> Self {
        Self {
            times: times.clone(),
            loc,
        }
    }
}

/// A number of equal steps: what `0..n` becomes in a staged loop.
#[track_caller]
pub fn range(times: impl Count) -> Repeat {
    Repeat {
        times: times.into_index(),
        loc: Loc::caller(),
    }
}

/// A type that a `for` loop of an algorithm may run over.
#[diagnostic::on_unimplemented(
    message = "a staged loop cannot run over `{Self}`",
    label = "expected `k.batches(epochs, size)`, `k.rows(passes, size, ..)`, `cohort.in_turn()` or a range `0..n`",
    note = "the clients of a cohort are no loop, they run at once: `w.broadcast(&cohort).map(|k, w| ..)`; one after the other they are `for client in cohort.in_turn()`"
)]
pub trait StagedLoop {
    /// The type that the loop's pattern binds: the batch, the client, or `()` for a range, whose steps are equal.
    type Item;
    /// Stages the loop.
    #[doc(hidden)]
    fn stage<C: LoopState>(self, carried: C, body: impl Fn(Self::Item, C) -> C) -> C;
}

impl StagedLoop for Batches {
    type Item = Batch;

    fn stage<C: LoopState>(self, carried: C, body: impl Fn(Batch, C) -> C) -> C {
        let (graph, loc) = (&self.graph, self.loc);
        let operands = vec![
            self.client,
            self.epochs.value_in(graph),
            self.size.value_in(graph),
        ];
        let batch = Type {
            kind: Kind::Batch,
            place: graph.place(),
        };
        let head = (OptOp::ForBatches, operands, vec![batch]);
        stage_loop(graph, head, carried, loc, |own, carried| {
            body(Batch::new(graph, only(own)), carried)
        })
    }
}

impl StagedLoop for Repeat {
    type Item = ();

    fn stage<C: LoopState>(self, carried: C, body: impl Fn((), C) -> C) -> C {
        let (times, loc) = (self.times.count(), self.loc);
        // Constants and hyper-parameters have no graph: turns are written out until a carried value has one.
        let (mut carried, mut written_out) = (carried, 0);
        while carried.graph().is_none() && written_out < times {
            carried = body((), carried);
            written_out += 1;
        }
        let Some(graph) = carried.graph() else {
            return carried;
        };
        let rest = match written_out {
            0 => self.times,
            n if n == times => return carried,
            n => Index::constant(times - n, loc),
        };
        let head = (OptOp::Repeat, vec![rest.value_in(&graph)], vec![]);
        stage_loop(&graph, head, carried, loc, |_, carried| body((), carried))
    }
}

/// Stages a loop: its op, the operands that control it, and the types of what its body is given in each
/// step besides the carried values.
pub(crate) fn stage_loop<C: LoopState>(
    graph: &Graph,
    (op, mut operands, mut types): (impl Into<OpKind>, Vec<Value>, Vec<Type>),
    carried: C,
    loc: Loc,
    body: impl FnOnce(&[Value], C) -> C,
) -> C {
    let given = types.len();
    let first = carried.values(graph, loc);
    types.extend(graph.types(&first));
    operands.extend(first);
    let args = graph.open(&types, graph.place());
    let (own, rest) = args.split_at(given.min(args.len()));
    let next = body(own, carried.rebind(graph, &mut rest.iter().copied()));
    if !carried.fits(&next) {
        graph.with(|builder| builder.error(BuildError::OtherOptimizer { loc }));
    }
    let region = graph.close(next.values(graph, loc), loc);
    let results = graph.op_with(op, &operands, region, loc);
    carried.rebind(graph, &mut results.into_iter())
}

/// Stages `for pattern in iter { body }` with the variables that the body assigns. The body is `Fn`,
/// so that rustc reports a variable that it changes in another way, and that would not be carried.
pub fn for_each<L: StagedLoop, C: LoopState>(
    iter: L,
    carried: C,
    body: impl Fn(L::Item, C) -> C,
) -> C {
    iter.stage(carried, body)
}

/// Runs `for j in 0..n { body }`, whose turns are written out one by one with their numbers. What they assign
/// may be of any type, as nothing of it is carried in the graph.
#[track_caller]
pub fn for_turns<C>(times: impl Count, carried: C, body: impl Fn(usize, C) -> C) -> C {
    (0..times.into_index().count()).fold(carried, |carried, turn| body(turn, carried))
}
