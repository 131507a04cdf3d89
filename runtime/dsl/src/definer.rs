//! Runs the bodies of slots once each, to stage them.

use fedround_ir::Loc;
use fedround_ir::fed::{Slot, Value};

use crate::graph::{Graph, only};
use crate::wire::Wire;
use crate::{
    Batch, ClientCx, Clients, Features, Hyper, Labels, Params, Scalar, Server, ServerCx, ServerSide,
};

/// Collects the slot definitions of an algorithm's layers, innermost layer first.
#[derive(Debug)]
pub struct Definer {
    graph: Graph,
}

impl Definer {
    pub(crate) fn new(graph: Graph) -> Self {
        Self { graph }
    }

    /// Begins a layer: the slots and hyper-parameters that follow are its own.
    pub fn layer(&mut self, hyper: &dyn Hyper) {
        self.graph.with(|builder| builder.layer(hyper.name()));
        self.graph.next_layer();
    }

    fn slot(&self, slot: Slot, loc: Loc, body: impl FnOnce(&Graph, &[Value]) -> Value) {
        let args = self.graph.with(|builder| builder.begin(slot));
        let result = body(&self.graph, &args);
        self.graph
            .with(|builder| builder.end(slot, vec![result], loc));
    }

    fn client(
        &self,
        slot: Slot,
        loc: Loc,
        body: impl FnOnce(&Graph, &ClientCx, Params, Option<Batch>) -> Value,
    ) {
        self.slot(slot, loc, |graph, args| {
            let k = ClientCx::new(graph, only(args));
            let w = Params::bind(graph, only(args.get(1..).unwrap_or_default()));
            let b = args.get(2).map(|value| Batch::new(graph, *value));
            body(graph, &k, w, b)
        });
    }

    /// Defines [`Slot::Round`].
    #[track_caller]
    pub fn round(&mut self, body: impl FnOnce(&ServerCx, Server<Params>) -> Server<Params>) {
        self.slot(Slot::Round, Loc::caller(), |graph, args| {
            body(&ServerCx::new(graph), Server::new(graph, only(args))).value
        });
    }

    /// Defines [`Slot::ClientUpdate`].
    #[track_caller]
    pub fn client_update(&mut self, body: impl FnOnce(&ClientCx, Params) -> Params) {
        let loc = Loc::caller();
        self.client(Slot::ClientUpdate, loc, |graph, k, w, _| {
            body(k, w).value_in(graph, loc)
        });
    }

    /// Defines [`Slot::Aggregate`].
    #[track_caller]
    pub fn aggregate(&mut self, body: impl FnOnce(&ServerCx, Clients<Params>) -> Server<Params>) {
        self.slot(Slot::Aggregate, Loc::caller(), |graph, args| {
            body(&ServerCx::new(graph), Clients::new(graph, only(args))).value
        });
    }

    /// Defines [`Slot::Direction`].
    #[track_caller]
    pub fn direction(&mut self, body: impl FnOnce(&ClientCx, &Params, &Batch) -> Params) {
        let loc = Loc::caller();
        self.client(Slot::Direction, loc, |graph, k, w, b| {
            let b = b.unwrap_or_else(|| no_batch(graph));
            body(k, &w, &b).value_in(graph, loc)
        });
    }

    /// Defines [`Slot::DataLoss`].
    #[track_caller]
    pub fn data_loss(&mut self, body: impl FnOnce(&ClientCx, &Params, &Batch) -> Scalar) {
        let loc = Loc::caller();
        self.client(Slot::DataLoss, loc, |graph, k, w, b| {
            let b = b.unwrap_or_else(|| no_batch(graph));
            body(k, &w, &b).value_in(graph, loc)
        });
    }

    /// Defines [`Slot::Personalize`].
    #[track_caller]
    pub fn personalize(&mut self, body: impl FnOnce(&ClientCx, Params) -> Params) {
        let loc = Loc::caller();
        self.client(Slot::Personalize, loc, |graph, k, w, _| {
            body(k, w).value_in(graph, loc)
        });
    }

    /// Defines [`Slot::ServerDirection`].
    #[track_caller]
    pub fn server_direction(
        &mut self,
        body: impl FnOnce(&ServerSide, &Params, &Features, &Labels) -> Params,
    ) {
        let loc = Loc::caller();
        self.slot(Slot::ServerDirection, loc, |graph, args| {
            let arg = |i: usize| only(args.get(i..).unwrap_or_default());
            let (w, x) = (Params::bind(graph, arg(0)), Features::new(graph, arg(1)));
            let y = Labels::new(graph, arg(2));
            body(&ServerSide::new(graph), &w, &x, &y).value_in(graph, loc)
        });
    }

    /// Defines [`Slot::Penalty`].
    #[track_caller]
    pub fn penalty(&mut self, body: impl FnOnce(&ClientCx, &Params) -> Scalar) {
        let loc = Loc::caller();
        self.client(Slot::Penalty, loc, |graph, k, w, _| {
            body(k, &w).value_in(graph, loc)
        });
    }
}

/// Unreachable by the slots' signatures; the verifier would report the missing value.
fn no_batch(graph: &Graph) -> Batch {
    Batch::new(graph, only(&[]))
}
