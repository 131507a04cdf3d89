//! Malicious clients that move away from where they should go.

use fedround::prelude::*;

use crate::FedAvg;

/// The sign-flipping attack. Li, Xu, Chen, Giannakis and Ling 2019, "RSA: Byzantine-Robust Stochastic
/// Aggregation Methods for Distributed Learning from Heterogeneous Datasets", section 5,
/// <https://arxiv.org/abs/1811.03761>: a malicious client uploads `wᵗ − s (w − wᵗ)` in place of the
/// model `w` that it trained.
///
/// It is here to hold aggregation rules against: `krum(sign-flip(fedavg))`.
///
/// Departs:
/// - The paper flips the sign of the uploaded model; here it is that of the update.
/// - Running statistics are uploaded as they are: a variance that moved away could be negative, and the
///   model of any mean no number.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "sign-flip")]
pub struct SignFlip<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Share of all clients that are malicious: those with the lowest numbers.
    #[hyper(default = 0.2, range = 0.0..=1.0)]
    pub malicious: f32,
    /// `s`: how far they move away, as a multiple of the update.
    #[hyper(default = 1.0, range = 0.0..)]
    pub scale: f32,
}

/// 1 on the first `share` of all clients, rounded, and 0 on the others.
pub(crate) fn malicious(k: &ClientCx, share: Scalar) -> Scalar {
    (share * k.num_clients() - k.number() - 0.5).select(1.0, 0.0)
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for SignFlip<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        let back = malicious(k, self.malicious) * (1.0 + self.scale);
        let flipped = &w - back * (&w - k.global_params());
        flipped.replace_parts(&["Buffer"], &w)
    }
}
