//! Krum: the model that is nearest to most of the others.

use fedround::prelude::*;

use crate::FedAvg;

/// Krum and Multi-Krum. Blanchard et al. 2017, "Machine Learning with Adversaries: Byzantine Tolerant
/// Gradient Descent", sections 4 and 5, <https://arxiv.org/abs/1703.02757>.
///
/// The score of a model is the sum of its squared distances to the `m − f − 2` nearest others of the
/// cohort's `m`. The model with the lowest score is chosen, or the mean of several of the lowest.
///
/// Departs:
/// - Distances are between models after local training, and not between gradients.
/// - The paper's proof needs `2f + 2 < m`. A smaller cohort is not refused: a score is at least the
///   distance to the nearest other.
/// - The running statistics of batch normalisation count in the distances. The paper's gradients have none.
/// - The chosen models weigh the same, however many examples their clients have.
///
/// Defaults: Krum, which chooses one, with `f = 2`.
#[derive(Hyper, Debug, Clone)]
pub struct Krum<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `f`: malicious clients in a cohort that are to be withstood.
    #[hyper(default = 2, range = 0..)]
    pub byzantine: usize,
    /// How many models are averaged: 1 is Krum, more is Multi-Krum.
    #[hyper(default = 1, range = 1..)]
    pub selected: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Krum<A> {
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let w_k = w_k.gather();
        let m = w_k.map(|_, _| Scalar::from(1.0)).sum();
        let distances_k = w_k.split::<Tensor>(&w_k.sq_distances());
        let scores_k = distances_k.map(|k, d| {
            // One more: the distance to itself is 0.
            let near = (k.get(&m) - self.byzantine - 1.0).max(2.0);
            loss("least_sum", (&d, &near))
        });
        let scores = scores_k.stack();
        let ranks = server.run(|s| function("ranks", &s.get(&scores)));
        let chosen_k = w_k.split::<Scalar>(&ranks);
        let chosen_k = chosen_k.map(|_, rank| (self.selected - rank).select(1.0, 0.0));
        w_k.weighted_mean(&chosen_k)
    }
}
