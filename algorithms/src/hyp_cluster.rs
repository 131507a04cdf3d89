//! HypCluster: several models, of which each client trains the one that fits it best.

use fedround::prelude::*;

use crate::FedAvg;

/// HypCluster. Mansour, Mohri, Ro and Suresh 2020, "Three Approaches for Personalization with
/// Applications to Federated Learning", Algorithm HypCluster, <https://arxiv.org/abs/2002.10619>.
///
/// The server has `q` models. Each client of the cohort chooses the one whose loss on its examples is
/// smallest and trains it. Each model becomes the mean of what those who chose it made of it. A model
/// that nobody chose stays as it is.
///
/// Departs:
/// - Means are weighted by examples; the paper leaves the optimizer of a round open.
/// - The loss is the mean over batches of 64 examples, of which the last may be smaller.
/// - The first model is the one that a run begins with, and the one that it writes; the others begin
///   with initial parameters of their own. A base that compares with the model that was sent, as
///   FedProx does, sees the first.
/// - A client is tested with the model that it chose last, as it was then, and with the first one if it
///   was never in a cohort.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "hypcluster")]
pub struct HypCluster<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `q`: the number of models.
    #[hyper(default = 2, range = 1..)]
    pub clusters: usize,
    /// Share of the clients that train in a round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub share: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for HypCluster<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let models = server.states_or("model", &server.initial_models(&w, self.clusters));
        let s_t = server.sample(self.share);
        let trained = server.broadcast_all(&models, &s_t).map(|k, models| {
            let mut losses = list(self.clusters, |_| Scalar::from(0.0));
            for b in k.batches(1, 64) {
                losses = list(self.clusters, |j| &losses[j] + self.loss(k, &models[j], &b));
            }
            let chosen = argmin(&losses);
            let w = pick(&models, &chosen);
            k.set_state("chosen", &w);
            (self.client_update(k, w), chosen)
        });
        let (w_k, chosen_k) = trained;
        let next = list(self.clusters, |j| {
            let n_k = chosen_k.map(|k, chosen| chosen.is(j) * k.num_examples());
            let n = n_k.sum();
            n.choose(&(w_k.weighted_sum(&n_k) / &n), &models[j])
        });
        server.set_states("model", &next);
        next[0].clone()
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("chosen", &w)
    }
}
