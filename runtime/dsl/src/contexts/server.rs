//! The server, in server code.

use fedround_ir::Loc;
use fedround_ir::fed::{Dp, FedOp, Kind, LocalName, NameUse, PrivacyOp, Value};

use super::StateAccess;
use crate::batch::{Labels, Tensor};
use crate::graph::Graph;
use crate::wire::{Wire, sealed};
use crate::{Count, Params, Scalar, Server};

/// The server, in server code.
#[derive(Clone, Debug)]
pub struct ServerCx {
    pub(crate) graph: Graph,
}

impl ServerCx {
    pub(crate) fn new(graph: &Graph) -> Self {
        Self {
            graph: graph.clone(),
        }
    }

    /// Whether this graph is that of a phase with `rounds` rounds. An algorithm may do something else in
    /// its first rounds: `if server.phase("warm-up", self.warm_up) { .. } else { .. }`.
    ///
    /// Phases run in the order in which they are named, those of a plug-in before those of its base. The
    /// remaining rounds belong to no phase. A separate graph is staged for each phase, so that nothing
    /// branches at run time.
    #[track_caller]
    pub fn phase(&self, name: &str, rounds: impl Count) -> bool {
        self.graph
            .declare_phase(name, rounds.into_index().count(), Loc::caller())
    }

    /// Whether this graph makes the models of the evaluation `name`. An algorithm may evaluate clients in
    /// several ways: in `evaluate`, `if server.evaluation("fine-tuned") { .. } else { .. }`. A run reports
    /// each by its name, beside the evaluation without a name. It is true in no round.
    pub fn evaluation(&self, name: &str) -> bool {
        self.graph.declare_evaluation(name)
    }

    /// `t`: how many rounds were completed before this one.
    #[track_caller]
    pub fn round(&self) -> Server<Scalar> {
        Server::of_op(&self.graph, FedOp::RoundIndex, &[], Loc::caller())
    }

    /// `K`: the number of all clients, whether they take part in this round or not.
    #[track_caller]
    pub fn num_clients(&self) -> Server<Scalar> {
        Server::of_op(&self.graph, FedOp::NumClients, &[], Loc::caller())
    }

    /// `wᵗ`: the server's parameters at the start of the round, which are the argument of the outermost
    /// `round`. In `aggregate` they stand beside what the clients trained.
    #[track_caller]
    pub fn global_params(&self) -> Server<Params> {
        Server::of_op(&self.graph, FedOp::StartParams, &[], Loc::caller())
    }

    /// Parameters that the server keeps between rounds under a name, which is this algorithm's
    /// own: another one in a composition may use it too. Zeros before the first
    /// [`set_state`](Self::set_state).
    #[track_caller]
    pub fn state(&self, name: &str) -> Server<Params> {
        Server::new(&self.graph, self.read(name, Kind::Params, Loc::caller()))
    }

    /// A number that the server keeps, like [`state`](Self::state); 0 at first.
    #[track_caller]
    pub fn scalar_state(&self, name: &str) -> Server<Scalar> {
        Server::new(&self.graph, self.read(name, Kind::Scalar, Loc::caller()))
    }

    /// What the server keeps, like [`state`](Self::state), but `first` at first: parameters, a number,
    /// features or labels. With `w` of the first round that is the model that training began with.
    #[track_caller]
    pub fn state_or<T: Wire>(&self, name: &str, first: &Server<T>) -> Server<T> {
        let loc = Loc::caller();
        self.graph.same(&first.graph, "state_or", loc);
        Server::new(&self.graph, self.read_or(name, first.value, loc))
    }

    /// A number that the server keeps, like [`scalar_state`](Self::scalar_state), but `first` at first. For
    /// a first value that is computed, use [`state_or`](Self::state_or).
    #[track_caller]
    pub fn scalar_state_or(&self, name: &str, first: impl Into<Scalar>) -> Server<Scalar> {
        let loc = Loc::caller();
        let first = first.into().value_in(&self.graph, loc);
        Server::new(&self.graph, self.read_or(name, first, loc))
    }

    /// Features that the server keeps, like [`state`](Self::state): what clients released, and what was
    /// computed from that. If it is read before it is first set, the run stops with an error.
    #[track_caller]
    pub fn tensor_state(&self, name: &str) -> Server<Tensor> {
        Server::new(&self.graph, self.read(name, Kind::Tensor, Loc::caller()))
    }

    /// Labels that the server keeps, like [`tensor_state`](Self::tensor_state).
    #[track_caller]
    pub fn labels_state(&self, name: &str) -> Server<Labels> {
        Server::new(&self.graph, self.read(name, Kind::Labels, Loc::caller()))
    }

    /// Initial parameters of the model, drawn like those that a run begins with, from another stream for
    /// each number; those of 0 are the ones that it begins with.
    #[track_caller]
    pub fn initial_params(&self, number: impl Count) -> Server<Params> {
        let op = FedOp::InitialParams(number.into_index().count());
        Server::of_op(&self.graph, op, &[], Loc::caller())
    }

    /// Keeps parameters, a number, features or labels on the server for the rounds that follow.
    #[track_caller]
    pub fn set_state<T: Wire>(&self, name: &str, value: &Server<T>) {
        let loc = Loc::caller();
        self.graph.same(&value.graph, "set_state", loc);
        self.write(name, value.value, loc);
    }

    /// Claims a model of differential privacy. The claim is checked when the algorithm is linked. Under
    /// [`Dp::Local`], every client must clip its uploads and add noise to them. Under [`Dp::Central`], every
    /// aggregate must be one of clipped values, and must get noise before it is used beyond the round. The
    /// claim does not say whether the noise is enough for some ε.
    ///
    /// Taking a gradient updates the running statistics in the parameters, which then tell something about
    /// the examples. Where that is not allowed, take the gradient with respect to a copy without them:
    /// `w.replace_parts(&["Buffer"], &w.zeros_like())`.
    #[track_caller]
    pub fn claim(&self, dp: Dp) {
        // In the closure, the caller would be this line.
        let loc = Loc::caller();
        self.graph
            .with(|builder| builder.push(PrivacyOp::Claim(dp), &[], loc));
    }

    fn qualified<'a>(&self, name: impl Into<LocalName<'a>>, loc: Loc) -> String {
        self.graph.qualified(NameUse::ServerState, name.into(), loc)
    }
}

impl StateAccess for ServerCx {
    type Params = Server<Params>;

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn read<'a>(&self, name: impl Into<LocalName<'a>>, kind: Kind, loc: Loc) -> Value {
        let op = FedOp::ServerState(self.qualified(name, loc), kind);
        self.graph.op(op, &[], loc)
    }

    fn read_or<'a>(&self, name: impl Into<LocalName<'a>>, first: Value, loc: Loc) -> Value {
        let op = FedOp::ServerStateOr(self.qualified(name, loc));
        self.graph.op(op, &[first], loc)
    }

    fn write<'a>(&self, name: impl Into<LocalName<'a>>, value: Value, loc: Loc) {
        let op = FedOp::SetServerState(self.qualified(name, loc));
        self.graph.op(op, &[value], loc);
    }
}

impl sealed::Sealed for ServerCx {}
