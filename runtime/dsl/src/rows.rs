//! Values with one row per example: loops over rows, draws of rows, and collections over all examples of a
//! client.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Kind, OptOp, Type, Value};

use crate::contexts::StateAccess;
use crate::graph::{Graph, only};
use crate::loop_state::LoopState;
use crate::loops::{StagedLoop, stage_loop};
use crate::wire::Wire;
use crate::{Batch, ClientCx, Count, Index, Labels, Released, Scalar, Tensor};

/// Tensors or labels, or a tuple of two or three of them with the same number of rows. The rows with the
/// same index belong to the same example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rows that go together",
    label = "expected `Tensor`, `Labels` or a tuple of up to three of them"
)]
pub trait ZippedRows: Clone {
    #[doc(hidden)]
    type Bound;
    #[doc(hidden)]
    fn together(&self) -> Vec<(&Graph, Value)>;
    #[doc(hidden)]
    fn bind(graph: &Graph, values: &[Value]) -> Self::Bound;
}

macro_rules! one {
    ($($ty:ty => $bound:ident),*) => {$(
        impl ZippedRows for $ty {
            type Bound = $bound;
            #[track_caller]
            fn together(&self) -> Vec<(&Graph, Value)> {
                let inner: &$bound = self;
                let graph = inner.graph();
                vec![(graph, inner.stage(graph, Loc::caller()))]
            }
            fn bind(graph: &Graph, values: &[Value]) -> $bound {
                <$bound>::new(graph, only(values))
            }
        }
    )*};
}
one!(
    Tensor => Tensor,
    Labels => Labels,
    Released<Tensor> => Tensor,
    Released<Labels> => Labels
);

macro_rules! tuple {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: ZippedRows),*> ZippedRows for ($($ty,)*) {
            type Bound = ($($ty::Bound,)*);
            #[track_caller]
            fn together(&self) -> Vec<(&Graph, Value)> {
                let mut all = vec![];
                $(all.extend(self.$index.together());)*
                all
            }
            fn bind(graph: &Graph, values: &[Value]) -> Self::Bound {
                ($($ty::bind(graph, values.get($index..).unwrap_or_default()),)*)
            }
        }
    };
}
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);

/// The values of rows, all of this graph.
fn staged<T: ZippedRows>(rows: &T, graph: &Graph, op: &'static str, loc: Loc) -> Vec<Value> {
    let all = rows.together().into_iter();
    all.map(|(theirs, value)| {
        graph.same(theirs, op, loc);
        value
    })
    .collect()
}

/// Mini-batches of rows, shuffled anew in each epoch; see [`RowOps::rows`]. For a `for` loop
/// inside `#[federated]`.
#[derive(Clone, Debug)]
pub struct RowBatches<T> {
    graph: Graph,
    epochs: Index,
    size: Index,
    rows: T,
    loc: Loc,
}

impl<T: ZippedRows> StagedLoop for RowBatches<T> {
    type Item = T::Bound;

    fn stage<C: LoopState>(self, carried: C, body: impl Fn(T::Bound, C) -> C) -> C {
        let (graph, loc) = (&self.graph, self.loc);
        let rows = staged(&self.rows, graph, "rows", loc);
        let mut operands = vec![self.epochs.value_in(graph), self.size.value_in(graph)];
        operands.extend(&rows);
        let head = (OptOp::ForRows(rows.len()), operands, graph.types(&rows));
        stage_loop(graph, head, carried, loc, |batch, carried| {
            body(T::bind(graph, batch), carried)
        })
    }
}

/// Code that may walk over rows of values: a client's, and the server's.
pub trait RowOps: StateAccess {
    /// Mini-batches of at most `size` rows of some values, shuffled anew in each of `epochs`
    /// epochs: `for (z, id) in s.rows(1, 64, (z, id))`.
    #[track_caller]
    fn rows<T: ZippedRows>(&self, epochs: impl Count, size: impl Count, rows: T) -> RowBatches<T> {
        RowBatches {
            graph: self.graph().clone(),
            epochs: epochs.into_index(),
            size: size.into_index(),
            rows,
            loc: Loc::caller(),
        }
    }

    /// `n` rows at random, or all where there are fewer, drawn anew at each call.
    #[track_caller]
    fn sample_rows<T: ZippedRows>(&self, n: impl Count, rows: T) -> T::Bound {
        let graph = self.graph();
        draw(graph, n.into_index().value_in(graph), rows, Loc::caller())
    }

    /// The `n` rows where `key`, a number for each, is least, or all where there are fewer.
    #[track_caller]
    fn smallest<T: ZippedRows>(&self, n: impl Count, key: &Tensor, rows: T) -> T::Bound {
        let (graph, loc) = (self.graph(), Loc::caller());
        let mut operands = vec![n.into_index().value_in(graph), key.stage(graph, loc)];
        operands.extend(staged(&rows, graph, "smallest", loc));
        let least = graph.with(|builder| builder.push(OptOp::SmallestRows, &operands, loc));
        T::bind(graph, &least)
    }

    /// A share of the rows at random, rounded up, drawn anew at each call.
    #[track_caller]
    fn sample_row_fraction<T: ZippedRows>(&self, share: impl Into<Scalar>, rows: T) -> T::Bound {
        let (graph, loc) = (self.graph(), Loc::caller());
        draw(graph, share.into().value_in(graph, loc), rows, loc)
    }
}

fn draw<T: ZippedRows>(graph: &Graph, size: Value, rows: T, loc: Loc) -> T::Bound {
    let mut operands = vec![size];
    operands.extend(staged(&rows, graph, "sample_rows", loc));
    let drawn = graph.with(|builder| builder.push(OptOp::SampleRows, &operands, loc));
    T::bind(graph, &drawn)
}

impl RowOps for ClientCx {}
impl RowOps for crate::ServerComputeCx {}
impl RowOps for crate::PerClientCx {}

impl ClientCx {
    /// What a function gives for all of the client's examples: it is applied to batches of at most
    /// `size`, and the rows of its results are put below each other, in no particular order. The batches
    /// of a client's training do not depend on whether it collects.
    #[track_caller]
    pub fn collect<T: ZippedRows>(
        &self,
        size: impl Count,
        f: impl FnOnce(&Batch) -> T,
    ) -> T::Bound {
        let (graph, loc) = (&self.graph, Loc::caller());
        let operands = [self.value, size.into_index().value_in(graph)];
        let ty = Type {
            kind: Kind::Batch,
            place: graph.place(),
        };
        let args = graph.open(&[ty], graph.place());
        let each = f(&Batch::new(graph, only(&args)));
        let yields = staged(&each, graph, "collect", loc);
        let region = graph.close(yields, loc);
        T::bind(
            graph,
            &graph.op_with(OptOp::Collect, &operands, region, loc),
        )
    }

    /// How many examples the client has of each class, as features `[classes]`. They sum to
    /// [`num_examples`](Self::num_examples). Nothing is sent; to upload them, `release` them.
    #[track_caller]
    pub fn label_counts(&self) -> Tensor {
        Tensor::of_op(
            &self.graph,
            FedOp::LabelCounts,
            &[self.value],
            Loc::caller(),
        )
    }

    /// Each class that the client has examples of, once.
    #[track_caller]
    pub fn classes(&self) -> Labels {
        let op = FedOp::LocalClasses;
        Labels::of_op(&self.graph, op, &[self.value], Loc::caller())
    }
}

macro_rules! blank {
    ($($ty:ty),*) => {$(
        impl $ty {
            /// A zero input of the model for each row: `[rows, channels, height, width]` of images.
            #[track_caller]
            pub fn zero_inputs(&self) -> Tensor {
                let (graph, loc) = (self.graph(), Loc::caller());
                let value = self.stage(graph, loc);
                Tensor::of_op(graph, FedOp::ZeroInputs, &[value], loc)
            }
        }
    )*};
}
blank!(Tensor, Labels);
