//! The coordinate-wise trimmed mean of the clients' models.

use fedround::prelude::*;

use crate::FedAvg;

/// Coordinate-wise `β`-trimmed mean. Yin et al. 2018, "Byzantine-Robust Distributed Learning: Towards
/// Optimal Statistical Rates", Definition 2 and Algorithm 1 (option II),
/// <https://arxiv.org/abs/1803.01498>.
///
/// Departs:
/// - The mean is of models after local training, and not of gradients. After one step on all examples
///   they are the same up to the step size.
/// - Where `β m` is no whole number of the cohort's `m` clients, it is rounded down.
/// - Clients weigh the same, however many examples they have, as in the paper, where all have as many.
///
/// Defaults: `β = 0.2`; the paper asks for at least the share of malicious clients.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "trimmed-mean")]
pub struct TrimmedMean<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `β`: share of the cohort that is left out at each end, entry by entry; at 0 it is the mean.
    #[hyper(default = 0.2, range = 0.0..0.5)]
    pub beta: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for TrimmedMean<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.trimmed_mean(self.beta)
    }
}
