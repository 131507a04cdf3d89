//! Code on the server that computes with plain values, as client code does.

use fedround_ir::Loc;
use fedround_ir::fed::{BuildError, FedOp, Kind, LocalName, NameUse, Value};

use crate::graph::Graph;
use crate::server::OnServer;
use crate::wire::{Computed, Wire, sealed};
use crate::{Inputs, Labels, Params, Scalar, Server, ServerCx, StateAccess, Stream, Tensor, loss};

/// The server, in code that [`ServerCx::run`] runs.
#[derive(Clone, Debug)]
pub struct ServerComputeCx {
    pub(crate) graph: Graph,
}

/// The server at work for one client `k`, in code that [`Gathered::map`](crate::Gathered::map) runs.
#[derive(Clone, Debug)]
pub struct PerClientCx {
    graph: Graph,
    client: Value,
}

/// What the model makes of inputs; one that says words is given those before.
#[track_caller]
fn predicted(k: &(impl ServerCode + ?Sized), w: &Params, x: &Tensor, y: &Labels) -> Tensor {
    let (graph, loc) = (k.graph(), Loc::caller());
    let objective = graph.objective();
    for column in objective.inputs.iter().filter(|c| **c != objective.target) {
        let column = column.clone();
        graph.with(|builder| builder.error(BuildError::NoColumn { column, loc }));
    }
    match objective.inputs.len() {
        0 => k.forward(w, x),
        _ => k.apply("forward", w, (x, y)),
    }
}

/// What code on the server may do with plain values. Its state is the server's; in code for one
/// client, that client's own on the server.
pub trait ServerCode: StateAccess<Params = Params> {
    /// A value of the server, to compute with.
    #[track_caller]
    fn get<T: Wire>(&self, value: &Server<T>) -> T {
        self.graph().same(&value.graph, "get", Loc::caller());
        T::bind(self.graph(), value.value)
    }

    /// The model's forward pass: `[examples, …]` to logits `[examples, classes]`.
    #[track_caller]
    fn forward(&self, w: &Params, x: &Tensor) -> Tensor {
        self.apply("forward", w, x)
    }

    /// The model's own loss of some inputs and of what they are to be: classes `[examples]` or, of a
    /// model of captions, sentences `[examples, steps]`; see [`ClientCx::loss`](crate::ClientCx::loss).
    /// It is an error where the model predicts from other columns, too.
    #[track_caller]
    fn loss(&self, w: &Params, x: &Tensor, y: &Labels) -> Scalar {
        let (graph, predicted) = (self.graph(), predicted(self, w, x, y));
        loss(&graph.objective().loss, (&predicted, y))
    }

    /// The same with a weight `[examples]` for each: the registered loss `NAME_of` of a model's `NAME`.
    #[track_caller]
    fn loss_of(&self, w: &Params, x: &Tensor, y: &Labels, weights: &Tensor) -> Scalar {
        let (graph, predicted) = (self.graph(), predicted(self, w, x, y));
        let name = format!("{}_of", graph.objective().loss);
        loss(&name, (&predicted, y, weights))
    }

    /// A function of the model by name; see [`ClientCx::apply`](crate::ClientCx::apply).
    #[track_caller]
    fn apply(&self, function: &str, w: &Params, inputs: impl Inputs) -> Tensor {
        crate::grad::apply(self.graph(), function, w, inputs, Loc::caller())
    }

    /// Each class once, in order: `[classes]`.
    #[track_caller]
    fn classes(&self) -> Labels {
        Labels::of_op(self.graph(), FedOp::EveryClass, &[], Loc::caller())
    }

    /// `wᵗ`: the server's parameters at the start of the round; see
    /// [`ServerCx::global_params`](ServerCx::global_params).
    #[track_caller]
    fn global_params(&self) -> Params {
        Params::of_op(self.graph(), FedOp::StartParams, &[], Loc::caller())
    }

    /// `K`: the number of all clients, whether they take part in this round or not.
    #[track_caller]
    fn num_clients(&self) -> Scalar {
        Scalar::of_op(self.graph(), FedOp::NumClients, &[], Loc::caller())
    }

    /// `t`: how many rounds were completed before this one.
    #[track_caller]
    fn round(&self) -> Scalar {
        Scalar::of_op(self.graph(), FedOp::RoundIndex, &[], Loc::caller())
    }

    /// Parameters that are kept between rounds under a name, which is this algorithm's own. Zeros
    /// before the first [`set_state`](Self::set_state).
    #[track_caller]
    fn state(&self, name: &str) -> Params {
        Params::bind(self.graph(), self.read(name, Kind::Params, Loc::caller()))
    }

    /// A number that is kept, like [`state`](Self::state); 0 at first.
    #[track_caller]
    fn scalar_state(&self, name: &str) -> Scalar {
        Scalar::bind(self.graph(), self.read(name, Kind::Scalar, Loc::caller()))
    }

    /// What is kept, like [`state`](Self::state), but `first` at first: parameters, a number, features or
    /// labels.
    #[track_caller]
    fn state_or<T: Wire>(&self, name: &str, first: &T) -> T {
        let loc = Loc::caller();
        let first = first.value_in(self.graph(), loc);
        T::bind(self.graph(), self.read_or(name, first, loc))
    }

    /// A number that is kept, like [`scalar_state`](Self::scalar_state), but `first` at first.
    #[track_caller]
    fn scalar_state_or(&self, name: &str, first: impl Into<Scalar>) -> Scalar {
        let loc = Loc::caller();
        let first = first.into().value_in(self.graph(), loc);
        Scalar::bind(self.graph(), self.read_or(name, first, loc))
    }

    /// Features that are kept. If they are read before they are first set, the run stops with an error.
    #[track_caller]
    fn tensor_state(&self, name: &str) -> Tensor {
        Tensor::new(self.graph(), self.read(name, Kind::Tensor, Loc::caller()))
    }

    /// Labels that are kept, like [`tensor_state`](Self::tensor_state).
    #[track_caller]
    fn labels_state(&self, name: &str) -> Labels {
        Labels::new(self.graph(), self.read(name, Kind::Labels, Loc::caller()))
    }

    /// Keeps parameters, a number, features or labels for the rounds that follow.
    #[track_caller]
    fn set_state<T: Wire>(&self, name: &str, value: &T) {
        let loc = Loc::caller();
        self.write(name, value.value_in(self.graph(), loc), loc);
    }
}

impl ServerCode for ServerComputeCx {}
impl ServerCode for PerClientCx {}

impl ServerCx {
    /// Computes on the server with plain values, as client code does: takes them by
    /// [`get`](ServerCode::get), has models, gradients and loops, and gives values of the server.
    #[track_caller]
    pub fn run<U: Computed>(&self, body: impl FnOnce(&ServerComputeCx) -> U) -> U::At<OnServer> {
        let (graph, loc) = (&self.graph, Loc::caller());
        let values = body(&ServerComputeCx::new(graph)).values(graph, loc);
        U::bind_all::<OnServer>(graph, &values)
    }
}

impl ServerComputeCx {
    /// A random stream of a name; see [`ClientCx::stream`](crate::ClientCx::stream).
    #[track_caller]
    pub fn stream(&self, name: &str) -> Stream {
        Stream::new(&self.graph, name, None, Loc::caller())
    }

    pub(crate) fn new(graph: &Graph) -> Self {
        Self {
            graph: graph.clone(),
        }
    }
}

impl PerClientCx {
    fn qualified<'a>(&self, name: impl Into<LocalName<'a>>, loc: Loc) -> String {
        self.graph
            .qualified(NameUse::ServerStatePerClient, name.into(), loc)
    }

    pub(crate) fn new(graph: &Graph, client: Value) -> Self {
        Self {
            graph: graph.clone(),
            client,
        }
    }

    /// How long the client takes for a round on the virtual clock of failures,
    /// in seconds; 0 without a clock. The server measures it, nothing is sent.
    #[track_caller]
    pub fn seconds(&self) -> Scalar {
        Scalar::of_op(&self.graph, FedOp::Seconds, &[self.client], Loc::caller())
    }

    /// A random stream of a name, for this client on the server; see [`ClientCx::stream`](crate::ClientCx::stream).
    #[track_caller]
    pub fn stream(&self, name: &str) -> Stream {
        Stream::new(&self.graph, name, Some(self.client), Loc::caller())
    }

    /// The client's number among all clients, from 0.
    #[track_caller]
    pub fn number(&self) -> Scalar {
        let op = FedOp::ClientNumber;
        Scalar::of_op(&self.graph, op, &[self.client], Loc::caller())
    }

    /// The client's number among all clients, from 0, as the label of each row of `x`: what a model
    /// that tells clients apart is trained on. It needs as many classes as there are clients.
    #[track_caller]
    pub fn labels(&self, x: &Tensor) -> Labels {
        let loc = Loc::caller();
        let operands = [self.client, x.stage(&self.graph, loc)];
        Labels::of_op(&self.graph, FedOp::ClientLabels, &operands, loc)
    }
}

impl StateAccess for ServerComputeCx {
    type Params = Params;

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn read<'a>(&self, name: impl Into<LocalName<'a>>, kind: Kind, loc: Loc) -> Value {
        ServerCx::new(&self.graph).read(name, kind, loc)
    }

    fn read_or<'a>(&self, name: impl Into<LocalName<'a>>, first: Value, loc: Loc) -> Value {
        ServerCx::new(&self.graph).read_or(name, first, loc)
    }

    fn write<'a>(&self, name: impl Into<LocalName<'a>>, value: Value, loc: Loc) {
        ServerCx::new(&self.graph).write(name, value, loc);
    }
}

impl StateAccess for PerClientCx {
    type Params = Params;

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn read<'a>(&self, name: impl Into<LocalName<'a>>, kind: Kind, loc: Loc) -> Value {
        let op = FedOp::ServerState(self.qualified(name, loc), kind);
        self.graph.op(op, &[self.client], loc)
    }

    fn read_or<'a>(&self, name: impl Into<LocalName<'a>>, first: Value, loc: Loc) -> Value {
        let op = FedOp::ServerStateOr(self.qualified(name, loc));
        self.graph.op(op, &[self.client, first], loc)
    }

    fn write<'a>(&self, name: impl Into<LocalName<'a>>, value: Value, loc: Loc) {
        let op = FedOp::SetServerState(self.qualified(name, loc));
        // Without a result.
        self.graph
            .with(|builder| builder.push(op, &[self.client, value], loc));
    }
}

impl sealed::Sealed for ServerComputeCx {}
impl sealed::Sealed for PerClientCx {}
