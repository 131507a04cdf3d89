//! The trait that a spec implements.

use crate::hooks::call;
use crate::{
    Batch, ClientCx, Clients, Definer, Hyper, Labels, Params, Scalar, Server, ServerCx, ServerSide,
    Tensor,
};

/// A federated algorithm, written as its hooks: the parts that a plug-in may replace.
///
/// Implement it under `#[federated]`. A hook that an impl leaves out is the base's; of one that no
/// layer defines, there is a [standard definition](crate::standard), or it is an error when the
/// algorithm is linked and something calls it. A plug-in names
/// its base's definition as `self.base.hook(..)`; `self.hook(..)` is always the outermost one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a federated algorithm",
    label = "expected a type with `#[federated] impl Algorithm for ..`",
    note = "a plug-in over any base is written `#[federated(base = base)] impl<A: Algorithm> Algorithm for PlugIn<A>`"
)]
pub trait Algorithm: Hyper {
    /// The server's loop body: one round, from parameters to parameters.
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        call::round(server, w)
    }

    /// Local training on client `k`, from the parameters it received.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        call::client_update(k, w)
    }

    /// What the server makes of the parameters that the clients of a cohort trained.
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        call::aggregate(server, w_k)
    }

    /// The direction that a local step descends.
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        call::gradient(k, w, b)
    }

    /// The loss on a batch.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        call::loss(k, w, b)
    }

    /// What is added to the loss.
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        call::regularizer(k, w)
    }

    /// The model that client `k` uses, made of the global one: what is evaluated on the client's own
    /// test examples. Sends nothing.
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        call::personalize(k, w)
    }

    /// The direction that a step descends which the server takes itself, on released rows `x` and
    /// their labels `y`.
    fn server_gradient(&self, s: &ServerSide, w: &Params, x: &Tensor, y: &Labels) -> Params {
        call::server_gradient(s, w, x, y)
    }

    /// Stages every hook that this algorithm defines, its base's first. Written by `#[federated]`.
    #[doc(hidden)]
    fn define(&self, m: &mut Definer);
}

/// An algorithm chosen at run time. Implements [`Algorithm`], so that it can be a base.
pub type BoxedAlgorithm = Box<dyn Algorithm>;

impl<A: Algorithm + ?Sized> Algorithm for Box<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        (**self).round(server, w)
    }
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        (**self).client_update(k, w)
    }
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        (**self).aggregate(server, w_k)
    }
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        (**self).gradient(k, w, b)
    }
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        (**self).loss(k, w, b)
    }
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        (**self).regularizer(k, w)
    }
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        (**self).personalize(k, w)
    }
    fn server_gradient(&self, s: &ServerSide, w: &Params, x: &Tensor, y: &Labels) -> Params {
        (**self).server_gradient(s, w, x, y)
    }
    fn define(&self, m: &mut Definer) {
        (**self).define(m);
    }
}
