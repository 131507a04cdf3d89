//! MOON: representations close to the global model's, far from the client's last.

use fedround::prelude::*;

use crate::FedAvg;

/// MOON. Li, He and Song 2021, "Model-Contrastive Federated Learning", Algorithm 1,
/// <https://arxiv.org/abs/2103.16257>.
///
/// Departs:
/// - The representation `z` is that of the model's projection if it has one, as the paper's networks have
///   (`--model moon-lenet5`), and otherwise its features.
/// - The two frozen models are in inference; the paper does not say.
/// - Over a base that keeps layers on clients, those of both frozen models are the server's, which nobody
///   trained. `fedbn(moon)` keeps the client's own in its last model; `moon(fedbn)` does not.
///
/// Defaults: the paper's `τ = 0.5`, and `μ = 1`, the best of its grid on CIFAR-100 and
/// Tiny-ImageNet.
#[derive(Hyper, Debug, Clone)]
pub struct Moon<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `μ`: weight of the contrastive loss; at 0 the rounds are the base's.
    #[hyper(default = 1.0, range = 0.0..)]
    pub mu: f32,
    /// `τ`: temperature.
    #[hyper(default = 0.5, range = 0.01..)]
    pub tau: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Moon<A> {
    /// Keeps the trained model for the client's next round.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        k.set_state("previous", &w);
        w
    }

    /// `ℓ = ℓ_sup + μ ℓ_con`, Eq. (4), with `ℓ_con` of Eq. (3).
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let z = |w: &Params| k.apply("represent", w, &b.x);
        let (z, near, far) = (
            z(w),
            z(&k.global_params()),
            z(&k.state_or("previous", &k.global_params())),
        );
        let contrast = loss("contrast", (&z, &near, &far, &self.tau));
        self.base.loss(k, w, b) + self.mu * contrast
    }
}
