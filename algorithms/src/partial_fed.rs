//! PartialFed: clients load a part of the global model.

use fedround::prelude::*;

use crate::FedAvg;

/// PartialFed, with a fixed rule. Sun et al. 2021, "PartialFed: Cross-Domain Personalized Federated
/// Learning via Partial Initialization", section 3.2,
/// <https://proceedings.neurips.cc/paper/2021/hash/c429429bf1f2af051f2021dc92a8ebea-Abstract.html>.
///
/// Departs:
/// - A layer is one of two kinds, the head and batch normalisation, which the rule keeps or loads.
///
/// Defaults: both are the client's own.
#[derive(Hyper, Debug, Clone)]
pub struct PartialFed<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// What a client does not load from the server: `none`, `norm`, `head`, `norm+head` or `all`.
    #[hyper(default = "norm+head", choices = ["none", "norm", "head", "norm+head", "all"])]
    pub own: String,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for PartialFed<A> {
    /// Trains and uploads all layers.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, self.personalize(k, w));
        k.set_state("own", &w);
        w
    }

    /// The layers of the global model but for those that the client keeps.
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let own = k.state_or("own", &w);
        match self.own.as_str() {
            "none" => w,
            "norm" => w.with_parts(&["BatchNorm"], &own),
            "head" => w.with_parts(&["head"], &own),
            "norm+head" => w.with_parts(&["BatchNorm", "head"], &own),
            _ => own,
        }
    }
}
