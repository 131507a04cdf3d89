//! Values of all clients of a cohort on the server.

use std::marker::PhantomData;

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Kind, Place, Reduce, Type, Value};

use crate::clients::mapped;
use crate::graph::{Graph, next, only};
use crate::map_operands::{MapOperands, each_of_two};
use crate::wire::{Computed, Upload, Wire, hold};
use crate::{ClientCx, Clients, Cohort, Labels, PerClientCx, Released, Scalar, Server, Tensor};

/// One value for each client of a cohort, on the server: `{T}@server`; see [`Clients::gather`].
///
/// Code on a client cannot use it: send each client its own with [`Gathered::scatter`].
pub struct Gathered<T> {
    pub(crate) graph: Graph,
    pub(crate) value: Value,
    kind: PhantomData<T>,
}

hold!(
    Gathered,
    /// The values of all clients on the server: [`Gathered`].
    AllOnServer
);

impl<T> Gathered<T> {
    fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        graph.same(&self.graph, "gathered values", loc);
        self.value
    }

    fn server(&self, kind: FedOp, operands: &[Value], loc: Loc) -> Server<T> {
        Server::of_op(&self.graph, kind, operands, loc)
    }
}

impl<T: Wire> Clients<T> {
    /// Uploads every client's value to the server, which keeps the values separate.
    #[track_caller]
    pub fn gather(&self) -> Gathered<T> {
        Gathered::of_op(&self.graph, FedOp::Gather, &[self.value], Loc::caller())
    }
}

impl<T: Wire> Gathered<T> {
    /// Runs code on the server, once for each client of the cohort. The closure is run once, to
    /// record its ops; it reads values of the server by [`get`](crate::ServerCode::get).
    #[track_caller]
    pub fn map<U: Computed>(&self, body: impl FnOnce(&PerClientCx, T) -> U) -> U::At<AllOnServer> {
        map(self, Loc::caller(), body)
    }

    /// Both values of each client, for a [`map`](GatheredPair::map) over two. The other may be a zip
    /// itself.
    pub fn zip<Z: OfGathered>(&self, other: &Z) -> GatheredPair<Self, Z> {
        GatheredPair(self.clone(), other.clone())
    }

    /// Sends each client its own value.
    #[track_caller]
    pub fn scatter(&self) -> Clients<T> {
        Clients::of_op(&self.graph, FedOp::Scatter, &[self.value], Loc::caller())
    }

    /// Evaluates the values of some clients on the data of other clients, as in
    /// `w_k.evaluate_on(&target, |k, w| ..)`. The server sends every value to every client of `cohort`. Each of
    /// these clients runs the closure once per value. The results are averaged over the visited clients and
    /// returned to the server, one for each original value. The closure may not keep client state.
    #[track_caller]
    pub fn evaluate_on<U: Upload>(
        &self,
        cohort: &Cohort,
        body: impl FnOnce(&ClientCx, T) -> U,
    ) -> U::At<AllOnServer> {
        let (graph, loc) = (&self.graph, Loc::caller());
        graph.same(&cohort.graph, "evaluate_on", loc);
        let there = graph.op(FedOp::Scatter, &[self.value, cohort.value], loc);
        let results = mapped(graph, &[there], &[T::KIND], loc, |k, x| {
            body(k, T::bind(graph, only(x)))
        });
        let results = results.iter();
        let back = results.map(|left| graph.op(FedOp::Gather, &[*left, self.value], loc));
        U::bind_all::<AllOnServer>(graph, &back.collect::<Vec<_>>())
    }

    /// `Σ_k x_k`.
    #[track_caller]
    pub fn sum(&self) -> Server<T> {
        self.server(FedOp::Reduce(Reduce::Sum), &[self.value], Loc::caller())
    }

    /// `1/m Σ_k x_k` over the `m` clients of the cohort.
    #[track_caller]
    pub fn mean(&self) -> Server<T> {
        self.server(FedOp::Reduce(Reduce::Mean), &[self.value], Loc::caller())
    }

    /// `Σ_k a_k x_k / Σ_k a_k`.
    #[track_caller]
    pub fn weighted_mean(&self, weights: &Gathered<Scalar>) -> Server<T> {
        self.weighted(Reduce::WeightedMean, weights, Loc::caller())
    }

    /// `Σ_k a_k x_k`, with weights that may all be 0.
    #[track_caller]
    pub fn weighted_sum(&self, weights: &Gathered<Scalar>) -> Server<T> {
        self.weighted(Reduce::WeightedSum, weights, Loc::caller())
    }

    fn weighted(&self, reduce: Reduce, weights: &Gathered<Scalar>, loc: Loc) -> Server<T> {
        let operands = [self.value, weights.value_in(&self.graph, loc)];
        self.server(FedOp::Reduce(reduce), &operands, loc)
    }
}

/// Values that have one row per example: features or labels.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rows to join",
    label = "only features and labels have a row for each example"
)]
pub trait Rows: Wire {}
impl Rows for Tensor {}
impl Rows for Labels {}
impl Rows for Released<Tensor> {}
impl Rows for Released<Labels> {}

impl<T> Gathered<T> {
    /// The rows of all clients, in the order of the cohort.
    #[track_caller]
    pub fn concat(&self) -> Server<T>
    where
        T: Rows,
    {
        self.server(FedOp::Concat, &[self.value], Loc::caller())
    }

    /// For each of these rows, the position of its client in the cohort, from 0. These are the labels on
    /// which a model that tells clients apart is trained; it needs as many classes as the cohort has
    /// clients.
    #[track_caller]
    pub fn positions(&self) -> Server<Labels>
    where
        T: Rows,
    {
        Server::of_op(&self.graph, FedOp::Positions, &[self.value], Loc::caller())
    }
}

/// Gathered values: [`Gathered`], or several of them [zipped](Gathered::zip).
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no value for each client on the server",
    label = "expected `Gathered<T>`, or several of them zipped",
    note = "upload what clients have first: `.gather()`"
)]
pub trait OfGathered: MapOperands {}
impl<T: Wire> OfGathered for Gathered<T> {}
impl<A: OfGathered, B: OfGathered> OfGathered for GatheredPair<A, B> {}

impl<T: Wire> MapOperands for Gathered<T> {
    type Item = T;
    fn graph(&self) -> &Graph {
        &self.graph
    }
    fn operands(&self, graph: &Graph, loc: Loc) -> Vec<(Value, Kind)> {
        vec![(self.value_in(graph, loc), T::KIND)]
    }
    fn bind(graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> T {
        T::bind(graph, next(values))
    }
}

/// Values of each client, side by side, on the server; see [`Gathered::zip`]. They may be zipped with
/// more.
#[derive(Clone, Debug)]
pub struct GatheredPair<A, B>(A, B);

each_of_two!(GatheredPair);

impl<A: OfGathered, B: OfGathered> GatheredPair<A, B> {
    /// These values and others of each client.
    pub fn zip<Z: OfGathered>(&self, other: &Z) -> GatheredPair<Self, Z> {
        GatheredPair(self.clone(), other.clone())
    }

    /// Runs code on the server, once for each client of the cohort, with all of the values. They are a
    /// pair as they were zipped.
    #[track_caller]
    pub fn map<U: Computed>(
        &self,
        body: impl FnOnce(&PerClientCx, (A::Item, B::Item)) -> U,
    ) -> U::At<AllOnServer> {
        map(self, Loc::caller(), body)
    }
}

fn map<M: MapOperands, U: Computed>(
    over: &M,
    loc: Loc,
    body: impl FnOnce(&PerClientCx, M::Item) -> U,
) -> U::At<AllOnServer> {
    let graph = over.graph();
    let (operands, kinds): (Vec<Value>, Vec<Kind>) = over.operands(graph, loc).into_iter().unzip();
    let mut types = vec![Type::server(Kind::Client)];
    types.extend(kinds.into_iter().map(Type::server));
    let mut args = graph.open(&types, Place::Server).into_iter();
    let cx = PerClientCx::new(graph, next(&mut args));
    let yields = body(&cx, M::bind(graph, &mut args)).values(graph, loc);
    let region = graph.close(yields, loc);
    U::bind_all::<AllOnServer>(graph, &graph.op_with(FedOp::Map, &operands, region, loc))
}
