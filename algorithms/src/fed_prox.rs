//! FedProx: a proximal term that keeps local training near the received parameters.

use fedround::prelude::*;

use crate::FedAvg;

/// FedProx. Li et al. 2020, "Federated Optimization in Heterogeneous Networks", Algorithm 2,
/// <https://arxiv.org/abs/1812.06127>.
///
/// Departs:
/// - Algorithm 2 draws device `k` with probability `p_k` and takes the plain mean of what the
///   devices return. Over FedAvg, clients are drawn uniformly and weighted by their examples, the
///   common variant, so that FedProx with `μ = 0` is FedAvg.
/// - Algorithm 2 asks each device for a `γ_k`-inexact minimiser of `h_k`; here it is whatever the
///   base's local steps reach, the same number of epochs for every client.
/// - The term covers all layers that gradients train. Over a base with personal layers, such as `fedbn`, it
///   also pulls these, towards the server's values of them.
///
/// Defaults: the paper tunes `μ` over 0.001, 0.01, 0.1 and 1.
#[derive(Hyper, Debug, Clone)]
pub struct FedProx<A = FedAvg> {
    /// The algorithm that the proximal term is added to.
    pub base: A,
    /// `μ`: weight of the proximal term; at 0 the graph equals the base's.
    #[hyper(default = 0.01, range = 0.0..)]
    pub mu: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedProx<A> {
    /// `h_k(w; wᵗ) = F_k(w) + μ/2 ‖w − wᵗ‖²`, Eq. (2).
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        self.base.regularizer(k, w) + 0.5 * self.mu * (w - k.global_params()).sq_norm()
    }
}
