//! A mean of models by the squared norms of their gradients, in place of counts of examples.

use fedround::prelude::*;

use crate::FedAvg;

/// The other weights of LG-FedAvg's mean. Liang, Liu et al. 2020, "Think Locally, Act Globally:
/// Federated Learning with Local and Global Representations", section 2,
/// <https://arxiv.org/abs/2001.01523>: `‖∇_{θ_g^k} L_g^k‖²`.
///
/// In the paper `gradient-weights(lg-fedavg)`. Parts that stay on a client do not count.
///
/// Departs: the gradient is that of all of a client's local training, `(θ_g − θ_g^k)/η`, of which
/// `η` cancels; the paper does not say where it is taken. Of one step it is the gradient itself.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "gradient-weights")]
pub struct GradientWeights<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for GradientWeights<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        k.set_state("moved", &(&w - k.global_params()).sq_norm());
        w
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        // Where nothing moved, all weigh the same.
        w_k.weighted_mean(|k| k.scalar_state("moved") + 1e-30)
    }
}
