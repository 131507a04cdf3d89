//! The context of one client, in client code.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Kind, LocalName, NameUse, OptOp, Value};

use super::StateAccess;
use crate::batch::{Labels, Tensor};
use crate::graph::Graph;
use crate::inputs::Inputs;
use crate::wire::{Wire, sealed};
use crate::{Batch, Batches, Count, Params, Scalar};

/// One client, in client code. Only `map` and the hooks of clients provide one; server code has none.
#[derive(Clone, Debug)]
pub struct ClientCx {
    pub(crate) graph: Graph,
    pub(crate) value: Value,
}

impl ClientCx {
    pub(crate) fn new(graph: &Graph, value: Value) -> Self {
        Self {
            graph: graph.clone(),
            value,
        }
    }

    /// The client's batches of at most `size` examples, shuffled anew in each of `epochs` epochs.
    /// For a `for` loop inside `#[federated]`.
    #[track_caller]
    pub fn batches(&self, epochs: impl Count, size: impl Count) -> Batches {
        Batches::new(
            &self.graph,
            self.value,
            epochs.into_index(),
            size.into_index(),
            Loc::caller(),
        )
    }

    /// One batch of at most `size` examples, drawn anew at each call.
    #[track_caller]
    pub fn batch(&self, size: impl Count) -> Batch {
        let operands = [self.value, size.into_index().value_in(&self.graph)];
        let value = self.graph.op(OptOp::OneBatch, &operands, Loc::caller());
        Batch::new(&self.graph, value)
    }

    /// The model's forward pass: `[examples, …]` to logits `[examples, classes]`.
    #[track_caller]
    pub fn forward(&self, w: &Params, x: &Tensor) -> Tensor {
        self.apply("forward", w, x)
    }

    /// A function of the model by name, of one to four features or labels: `k.apply("features", w,
    /// &b.x)`. Models say which they have; classifiers have `forward`, `features` (all but the
    /// last layer) and `head` (the last layer). A name that the model does not have is reported
    /// when a program is compiled.
    #[track_caller]
    pub fn apply(&self, function: &str, w: &Params, inputs: impl Inputs) -> Tensor {
        crate::grad::apply(&self.graph, function, w, inputs, Loc::caller())
    }

    /// Whether this graph is that of a phase, which `round` of the same layer [declares](crate::ServerCx::phase).
    /// A misspelt name is an error if one that is declared is nearly the same; otherwise it is of no phase.
    #[track_caller]
    pub fn phase(&self, name: &str) -> bool {
        self.graph.in_phase(name, Loc::caller())
    }

    /// Whether this graph makes the models of the evaluation `name`, in `personalize`; see
    /// [`ServerCx::evaluation`](crate::ServerCx::evaluation).
    pub fn evaluation(&self, name: &str) -> bool {
        self.graph.declare_evaluation(name)
    }

    /// `n_k`: how many examples the client has.
    #[track_caller]
    pub fn num_examples(&self) -> Scalar {
        Scalar::of_op(
            &self.graph,
            FedOp::NumExamples,
            &[self.value],
            Loc::caller(),
        )
    }

    /// The client's number among all clients, from 0. It is the same in every round and run.
    #[track_caller]
    pub fn number(&self) -> Scalar {
        let op = FedOp::ClientNumber;
        Scalar::of_op(&self.graph, op, &[self.value], Loc::caller())
    }

    /// `K`: the number of all clients, whether they take part in this round or not.
    #[track_caller]
    pub fn num_clients(&self) -> Scalar {
        Scalar::of_op(&self.graph, FedOp::NumClients, &[], Loc::caller())
    }

    /// `wᵗ`: the parameters that were broadcast to the client this round. If several were, these are the
    /// argument of `round`, whichever came first; if that was not among them, they are the only ones that
    /// are computed from it. If this does not tell which, linking fails.
    #[track_caller]
    pub fn global_params(&self) -> Params {
        Params::of_op(
            &self.graph,
            FedOp::GlobalParams,
            &[self.value],
            Loc::caller(),
        )
    }

    /// `t`: how many rounds were completed before this one.
    #[track_caller]
    pub fn round(&self) -> Scalar {
        Scalar::of_op(&self.graph, FedOp::RoundIndex, &[], Loc::caller())
    }

    /// Parameters that the client keeps between its rounds under a name, which is this
    /// algorithm's own: another one in a composition may use it too. Zeros before the first
    /// [`set_state`](Self::set_state).
    #[track_caller]
    pub fn state(&self, name: &str) -> Params {
        Params::bind(&self.graph, self.read(name, Kind::Params, Loc::caller()))
    }

    /// What the client keeps, like [`state`](Self::state), but `first` at first: parameters, a number,
    /// features or labels.
    #[track_caller]
    pub fn state_or<T: Wire>(&self, name: &str, first: &T) -> T {
        let loc = Loc::caller();
        let first = first.value_in(&self.graph, loc);
        T::bind(&self.graph, self.read_or(name, first, loc))
    }

    /// A number that the client keeps, like [`scalar_state`](Self::scalar_state), but `first` at first.
    #[track_caller]
    pub fn scalar_state_or(&self, name: &str, first: impl Into<Scalar>) -> Scalar {
        let loc = Loc::caller();
        let first = first.into().value_in(&self.graph, loc);
        Scalar::bind(&self.graph, self.read_or(name, first, loc))
    }

    /// A number that the client keeps, like [`state`](Self::state); 0 at first.
    #[track_caller]
    pub fn scalar_state(&self, name: &str) -> Scalar {
        Scalar::bind(&self.graph, self.read(name, Kind::Scalar, Loc::caller()))
    }

    /// A tensor that the client keeps, like [`state`](Self::state). If it is read before it is first set,
    /// the run stops with an error.
    #[track_caller]
    pub fn tensor_state(&self, name: &str) -> Tensor {
        Tensor::new(&self.graph, self.read(name, Kind::Tensor, Loc::caller()))
    }

    /// Labels that the client keeps, like [`tensor_state`](Self::tensor_state).
    #[track_caller]
    pub fn labels_state(&self, name: &str) -> Labels {
        Labels::new(&self.graph, self.read(name, Kind::Labels, Loc::caller()))
    }

    /// Keeps parameters, a number, features or labels on the client for its next rounds.
    #[track_caller]
    pub fn set_state<T: Wire>(&self, name: &str, value: &T) {
        let loc = Loc::caller();
        self.write(name, value.value_in(&self.graph, loc), loc);
    }

    fn qualified<'a>(&self, name: impl Into<LocalName<'a>>, loc: Loc) -> String {
        self.graph.qualified(NameUse::ClientState, name.into(), loc)
    }
}

impl StateAccess for ClientCx {
    type Params = Params;

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn read<'a>(&self, name: impl Into<LocalName<'a>>, kind: Kind, loc: Loc) -> Value {
        let op = FedOp::ClientState(self.qualified(name, loc), kind);
        self.graph.op(op, &[self.value], loc)
    }

    fn read_or<'a>(&self, name: impl Into<LocalName<'a>>, first: Value, loc: Loc) -> Value {
        let op = FedOp::Personal(self.qualified(name, loc), vec![]);
        self.graph.op(op, &[self.value, first], loc)
    }

    fn write<'a>(&self, name: impl Into<LocalName<'a>>, value: Value, loc: Loc) {
        let op = FedOp::SetClientState(self.qualified(name, loc));
        self.graph.op(op, &[self.value, value], loc);
    }
}

impl sealed::Sealed for ClientCx {}
