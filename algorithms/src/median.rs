//! The coordinate-wise median of the clients' models.

use fedround::prelude::*;

use crate::FedAvg;

/// Coordinate-wise median. Yin et al. 2018, "Byzantine-Robust Distributed Learning: Towards Optimal
/// Statistical Rates", Definition 1 and Algorithm 1 (option I), <https://arxiv.org/abs/1803.01498>.
///
/// Departs:
/// - The median is of models after local training, and not of gradients. After one step on all
///   examples they are the same up to the step size.
/// - Clients weigh the same, however many examples they have, as in the paper, where all have as many.
#[derive(Hyper, Debug, Clone)]
pub struct Median<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Median<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.median()
    }
}
