//! FedAvgM: momentum on the server.

use fedround::prelude::*;

use crate::FedAvg;

/// FedAvgM. Hsu, Qi and Brown 2019, "Measuring the Effects of Non-Identical Data Distribution for
/// Federated Visual Classification", section 4.3, <https://arxiv.org/abs/1909.06335>.
///
/// Departs:
/// - Running statistics of normalisation layers are the base's, without momentum; the paper's
///   models have none.
///
/// Defaults: `β = 0.9`, in the range that the paper finds best for all but the smallest skew.
#[derive(Hyper, Debug, Clone)]
pub struct FedAvgM<A = FedAvg> {
    /// The algorithm whose rounds are smoothed.
    pub base: A,
    /// `β`: how much of the last update is kept; at 0, with `server_lr = 1`, the round is the base's.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub beta: f32,
    /// `η_s`: step size of the server.
    #[hyper(default = 1.0, range = 0.0..=1000000.0)]
    pub server_lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedAvgM<A> {
    /// `v ← β v + Δw; w ← w − η_s v`, with `Δw = Σ n_k/n Δw_k`.
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let next = self.base.round(server, w.clone());
        let v = self.beta * server.state("v") + (&w - &next);
        server.set_state("v", &v);
        (w - self.server_lr * v).replace_parts(&["Buffer"], &next)
    }
}
