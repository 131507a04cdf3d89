//! Runs the bodies of hooks once each, to stage them.

use fedround_ir::Loc;
use fedround_ir::fed::{Hook, Value};

use crate::graph::{Graph, only};
use crate::wire::Wire;
use crate::{
    Batch, ClientCx, Clients, Hyper, Labels, Params, Scalar, Server, ServerCx, ServerSide, Tensor,
};

/// Collects the hook definitions of an algorithm's layers, innermost layer first.
#[derive(Debug)]
pub struct Definer {
    graph: Graph,
}

impl Definer {
    pub(crate) fn new(graph: Graph) -> Self {
        Self { graph }
    }

    /// Begins a layer: the hooks and hyper-parameters that follow are its own.
    pub fn layer(&mut self, hyper: &dyn Hyper) {
        self.graph.with(|builder| builder.layer(hyper.name()));
        self.graph.next_layer();
    }

    fn hook(&self, hook: Hook, loc: Loc, body: impl FnOnce(&Graph, &[Value]) -> Value) {
        let args = self.graph.with(|builder| builder.begin(hook));
        let result = body(&self.graph, &args);
        self.graph
            .with(|builder| builder.end(hook, vec![result], loc));
    }

    fn client(
        &self,
        hook: Hook,
        loc: Loc,
        body: impl FnOnce(&Graph, &ClientCx, Params, Option<Batch>) -> Value,
    ) {
        self.hook(hook, loc, |graph, args| {
            let k = ClientCx::new(graph, only(args));
            let w = Params::bind(graph, only(args.get(1..).unwrap_or_default()));
            let b = args.get(2).map(|value| Batch::new(graph, *value));
            body(graph, &k, w, b)
        });
    }

    /// Defines [`Hook::Round`].
    #[track_caller]
    pub fn round(&mut self, body: impl FnOnce(&ServerCx, Server<Params>) -> Server<Params>) {
        self.hook(Hook::Round, Loc::caller(), |graph, args| {
            body(&ServerCx::new(graph), Server::new(graph, only(args))).value
        });
    }

    /// Defines [`Hook::ClientUpdate`].
    #[track_caller]
    pub fn client_update(&mut self, body: impl FnOnce(&ClientCx, Params) -> Params) {
        let loc = Loc::caller();
        self.client(Hook::ClientUpdate, loc, |graph, k, w, _| {
            body(k, w).value_in(graph, loc)
        });
    }

    /// Defines [`Hook::Aggregate`].
    #[track_caller]
    pub fn aggregate(&mut self, body: impl FnOnce(&ServerCx, Clients<Params>) -> Server<Params>) {
        self.hook(Hook::Aggregate, Loc::caller(), |graph, args| {
            body(&ServerCx::new(graph), Clients::new(graph, only(args))).value
        });
    }

    /// Defines [`Hook::Gradient`].
    #[track_caller]
    pub fn gradient(&mut self, body: impl FnOnce(&ClientCx, &Params, &Batch) -> Params) {
        let loc = Loc::caller();
        self.client(Hook::Gradient, loc, |graph, k, w, b| {
            let b = b.unwrap_or_else(|| no_batch(graph));
            body(k, &w, &b).value_in(graph, loc)
        });
    }

    /// Defines [`Hook::Loss`].
    #[track_caller]
    pub fn loss(&mut self, body: impl FnOnce(&ClientCx, &Params, &Batch) -> Scalar) {
        let loc = Loc::caller();
        self.client(Hook::Loss, loc, |graph, k, w, b| {
            let b = b.unwrap_or_else(|| no_batch(graph));
            body(k, &w, &b).value_in(graph, loc)
        });
    }

    /// Defines [`Hook::Personalize`].
    #[track_caller]
    pub fn personalize(&mut self, body: impl FnOnce(&ClientCx, Params) -> Params) {
        let loc = Loc::caller();
        self.client(Hook::Personalize, loc, |graph, k, w, _| {
            body(k, w).value_in(graph, loc)
        });
    }

    /// Defines [`Hook::ServerGradient`].
    #[track_caller]
    pub fn server_gradient(
        &mut self,
        body: impl FnOnce(&ServerSide, &Params, &Tensor, &Labels) -> Params,
    ) {
        let loc = Loc::caller();
        self.hook(Hook::ServerGradient, loc, |graph, args| {
            let arg = |i: usize| only(args.get(i..).unwrap_or_default());
            let (w, x) = (Params::bind(graph, arg(0)), Tensor::new(graph, arg(1)));
            let y = Labels::new(graph, arg(2));
            body(&ServerSide::new(graph), &w, &x, &y).value_in(graph, loc)
        });
    }

    /// Defines [`Hook::Regularizer`].
    #[track_caller]
    pub fn regularizer(&mut self, body: impl FnOnce(&ClientCx, &Params) -> Scalar) {
        let loc = Loc::caller();
        self.client(Hook::Regularizer, loc, |graph, k, w, _| {
            body(k, &w).value_in(graph, loc)
        });
    }
}

/// Unreachable by the hooks' signatures; the verifier would report the missing value.
fn no_batch(graph: &Graph) -> Batch {
    Batch::new(graph, only(&[]))
}
