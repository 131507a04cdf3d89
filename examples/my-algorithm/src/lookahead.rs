//! Lookahead on the server.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;

/// Lookahead. Zhang et al. 2019, "Lookahead Optimizer: k steps forward, 1 step back",
/// Algorithm 1, <https://arxiv.org/abs/1907.08610>: the server keeps slow weights and moves them a
/// part of the way to what a round of the base makes of them.
///
/// The same as a server learning rate: Reddi et al. 2021, "Adaptive Federated Optimization",
/// Algorithm 1 with plain SGD on the server, <https://arxiv.org/abs/2003.00295>.
///
/// Departs: the `k` steps of the inner optimiser are one federated round.
#[derive(Hyper, Debug, Clone)]
pub struct Lookahead<A = FedAvg> {
    /// What makes a round.
    pub base: A,
    /// `α`: step size of the slow weights; at 1 they are the base's.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub alpha: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Lookahead<A> {
    /// `φ ← φ + α (θ − φ)`, written so that `α = 1` gives `θ` without rounding.
    fn round(&self, server: &ServerCx, phi: Server<Params>) -> Server<Params> {
        let theta = self.base.round(server, phi.clone());
        (1.0 - self.alpha) * phi + self.alpha * theta
    }
}
