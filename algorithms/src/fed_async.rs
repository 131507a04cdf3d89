//! FedAsync: the server mixes each update in as it arrives.

use fedround::prelude::*;

use crate::FedAvg;

/// How the weight of an update in [`FedAsync`] falls with its staleness.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedAsyncWeight {
    /// Not at all.
    Constant,
    /// As a power.
    Polynomial,
    /// From a bound on.
    Hinge,
}

/// FedAsync. Xie, Koyejo and Gupta 2019, "Asynchronous Federated Optimization", Algorithm 1 and
/// section 5.2, <https://arxiv.org/abs/1903.03934>.
///
/// A round takes the updates that arrive next on the virtual clock, one by default:
/// `w ← (1 − α_t) w + α_t w_new` with `α_t = α · s(t − τ)`, where `t − τ` counts the rounds since the client
/// began. Its clients begin at random, as many as train at the same time.
///
/// The proximal term of the paper's local steps, with its `ρ`, is that of `fedasync(fedprox)`.
///
/// Departs:
/// - Staleness is 0 for an update that began from the newest model; by the paper's Algorithm 1 it is 1.
/// - Local training takes epochs of the base's steps; in the paper it takes a random number of steps.
/// - With `buffer` above 1 the server waits for so many updates, and mixes in their mean at the mean of
///   their weights; the paper takes each by itself.
///
/// Defaults: those of the paper's section 6 where it gives one: `α = 0.6`, `a = 0.5` of the polynomial.
/// The paper's hinge has `a = 10` and `b = 4`.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "fedasync")]
pub struct FedAsync<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients that train at the same time.
    #[hyper(default = 10, range = 1..)]
    pub in_flight: usize,
    /// Updates that the server waits for in a round.
    #[hyper(default = 1, range = 1..)]
    pub buffer: usize,
    /// `α`: weight of an update without staleness.
    #[hyper(default = 0.6, range = 0.0..=1.0)]
    pub alpha: f32,
    /// `s`: how weights fall with staleness.
    #[hyper(default = FedAsyncWeight::Polynomial)]
    pub weight: FedAsyncWeight,
    /// `a`: how fast they fall.
    #[hyper(default = 0.5, range = 0.0..)]
    pub a: f32,
    /// `b`: the largest staleness of which the hinge takes nothing off.
    #[hyper(default = 4.0, range = 0.0..)]
    pub b: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedAsync<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let arrived = server.arrivals(self.in_flight, self.buffer);
        let w_k = w.dispatch(&arrived).map(|k, w| self.client_update(k, w));
        let weight_k = arrived.staleness().map(|_, stale| match self.weight {
            FedAsyncWeight::Constant => Scalar::from(1.0),
            FedAsyncWeight::Polynomial => (-self.a * (stale + 1.0).ln()).exp(),
            FedAsyncWeight::Hinge => {
                let beyond = stale - self.b;
                1.0 / (self.a * beyond.max(0.0) + 1.0)
            }
        });
        let alpha = self.alpha * weight_k.mean();
        (1.0 - &alpha) * &w + alpha * w_k.mean()
    }
}
