//! Values on the clients of a cohort.

use std::marker::PhantomData;

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Kind, Place, Reduce, Type, Value};

use crate::graph::{Graph, next, only};
use crate::map_operands::{MapOperands, each_of_two};
use crate::wire::{Upload, Wire, hold};
use crate::{ClientCx, Scalar, Server};

/// One value for each client of a cohort, on the clients: `{T}@clients`.
pub struct Clients<T> {
    pub(crate) graph: Graph,
    pub(crate) value: Value,
    kind: PhantomData<T>,
}

hold!(
    Clients,
    /// One value on each client: [`Clients`].
    OnClients
);

impl<T> Clients<T> {
    pub(crate) fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        graph.same(&self.graph, "clients' values", loc);
        self.value
    }
}

impl<T: Wire> Clients<T> {
    /// Runs code on every client of the cohort. The closure is run once, to record its ops.
    #[track_caller]
    pub fn map<U: Upload>(&self, body: impl FnOnce(&ClientCx, T) -> U) -> U::At<OnClients> {
        map(self, Loc::caller(), body)
    }

    /// Both values of each client, for a [`map`](Zipped::map) over two. The other may be a zip itself:
    /// `a.zip(&b.zip(&c)).map(|k, (a, (b, c))| ..)`.
    pub fn zip<Z: OfClients>(&self, other: &Z) -> Zipped<Self, Z> {
        Zipped(self.clone(), other.clone())
    }

    /// `Σ_k x_k`.
    #[track_caller]
    pub fn sum(&self) -> Server<T> {
        self.reduce(Reduce::Sum, Loc::caller())
    }

    /// `1/m Σ_k x_k` over the `m` clients of the cohort.
    #[track_caller]
    pub fn mean(&self) -> Server<T> {
        self.reduce(Reduce::Mean, Loc::caller())
    }

    /// `Σ_k n_k x_k / Σ_k n_k`, with the weight `n_k` that the closure gives on each client. The closure does not
    /// see `x_k`; if a weight depends on it, use [`weighted_mean_by`](Self::weighted_mean_by).
    #[track_caller]
    pub fn weighted_mean(&self, weight: impl FnOnce(&ClientCx) -> Scalar) -> Server<T> {
        // The map's operand says over which cohort; the weights need no value of it.
        let weights = self.map(|k, _| weight(k));
        self.weighted_mean_by(&weights)
    }

    /// `Σ_k a_k x_k / Σ_k a_k`, by weights that the clients computed, such as their losses. The clients upload
    /// the weights beside the values. Negative weights count as they are. If the weights sum to 0, the run
    /// stops with an error.
    ///
    /// If the server computes the weights, write `w_k.gather().weighted_mean(&weights)`: see
    /// [`Gathered::weighted_mean`](crate::Gathered::weighted_mean).
    #[track_caller]
    pub fn weighted_mean_by(&self, weights: &Clients<Scalar>) -> Server<T> {
        self.weighted(Reduce::WeightedMean, weights, Loc::caller())
    }

    /// `Σ_k a_k x_k`, with weights that may all be 0.
    #[track_caller]
    pub fn weighted_sum(&self, weights: &Clients<Scalar>) -> Server<T> {
        self.weighted(Reduce::WeightedSum, weights, Loc::caller())
    }

    fn weighted(&self, reduce: Reduce, weights: &Clients<Scalar>, loc: Loc) -> Server<T> {
        let operands = [self.value, weights.value_in(&self.graph, loc)];
        Server::of_op(&self.graph, FedOp::Reduce(reduce), &operands, loc)
    }

    fn reduce(&self, reduce: Reduce, loc: Loc) -> Server<T> {
        Server::of_op(&self.graph, FedOp::Reduce(reduce), &[self.value], loc)
    }
}

/// Values of the clients of a cohort: [`Clients`], or several of them [zipped](Clients::zip).
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no value for each client",
    label = "expected `Clients<T>`, or several of them zipped",
    note = "send a value of the server to each client first: `.broadcast(&cohort)`"
)]
pub trait OfClients: MapOperands {}
impl<T: Wire> OfClients for Clients<T> {}
impl<A: OfClients, B: OfClients> OfClients for Zipped<A, B> {}

impl<T: Wire> MapOperands for Clients<T> {
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

/// Values of each client, side by side; see [`Clients::zip`]. They may be zipped with more.
#[derive(Clone, Debug)]
pub struct Zipped<A, B>(A, B);

each_of_two!(Zipped);

impl<A: OfClients, B: OfClients> Zipped<A, B> {
    /// These values and others of each client.
    pub fn zip<Z: OfClients>(&self, other: &Z) -> Zipped<Self, Z> {
        Zipped(self.clone(), other.clone())
    }

    /// Runs code on every client of the cohort, with all of the values. They are a pair as they were
    /// zipped: `a.zip(&b).zip(&c).map(|k, ((a, b), c)| ..)`.
    #[track_caller]
    pub fn map<U: Upload>(
        &self,
        body: impl FnOnce(&ClientCx, (A::Item, B::Item)) -> U,
    ) -> U::At<OnClients> {
        map(self, Loc::caller(), body)
    }
}

fn map<M: MapOperands, U: Upload>(
    over: &M,
    loc: Loc,
    body: impl FnOnce(&ClientCx, M::Item) -> U,
) -> U::At<OnClients> {
    let graph = over.graph();
    let (operands, kinds): (Vec<Value>, Vec<Kind>) = over.operands(graph, loc).into_iter().unzip();
    let results = mapped(graph, &operands, &kinds, loc, |k, values| {
        body(k, M::bind(graph, &mut values.iter().copied()))
    });
    U::bind_all::<OnClients>(graph, &results)
}

/// The results of code on clients.
pub(crate) fn mapped<U: Upload>(
    graph: &Graph,
    operands: &[Value],
    kinds: &[Kind],
    loc: Loc,
    body: impl FnOnce(&ClientCx, &[Value]) -> U,
) -> Vec<Value> {
    let mut types = vec![Type::client(Kind::Client)];
    types.extend(kinds.iter().copied().map(Type::client));
    let args = graph.open(&types, Place::Client);
    let cx = ClientCx::new(graph, only(&args));
    let released = body(&cx, args.get(1..).unwrap_or_default());
    let yields = released.values(graph, loc);
    let region = graph.close(yields, loc);
    graph.op_with(FedOp::Map, operands, region, loc)
}
