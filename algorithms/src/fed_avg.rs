//! FedAvg: local SGD, and the mean of the clients' models, weighted by their numbers of examples.

use fedround::optim::Sgd;
use fedround::prelude::*;

/// FedAvg. McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks from
/// Decentralized Data", Algorithm 1, <https://arxiv.org/abs/1602.05629>.
///
/// Departs:
/// - The mean is over the round's cohort: `n_k / m_t` with `m_t = Σ_{k ∈ S_t} n_k`. The first
///   version of the paper divides by the examples of all clients, which with sampling would shrink
///   the model.
/// - `C·K` is rounded to the nearest count; at least one client is drawn, as in the paper.
/// - The last batch of an epoch is short where `B` does not divide `n_k`; the paper does not say.
///
/// Defaults: the paper varies all four. `C = 0.1` and `B = 10` are the setting of most of its
/// tables; `E = 1` keeps a first run short (its Table 2 has 1, 5 and 20), and `η`, which the paper
/// tunes for each experiment, is one that suits the bundled models.
#[derive(Hyper, Debug, Clone)]
pub struct FedAvg {
    /// `C`: fraction of the clients that train in a round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub fraction: f32,
    /// `E`: local epochs.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// `B`: examples in a local batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `η`: local step size.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub lr: f32,
    /// Local momentum, from zero in each round; 0 in the paper.
    #[hyper(default = 0.0, range = 0.0..1.0)]
    pub momentum: f32,
    /// Weight decay of local steps; 0 in the paper.
    #[hyper(default = 0.0, range = 0.0..)]
    pub weight_decay: f32,
}

#[federated]
impl Algorithm for FedAvg {
    /// Alg. 1, body of the server's loop over `t`.
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    /// Alg. 1, `ClientUpdate(k, w)`.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let sgd = Sgd::new(self.lr).momentum(self.momentum);
        let mut opt = sgd.weight_decay(self.weight_decay).start(&w);
        for b in k.batches(self.epochs, self.batch) {
            let g = self.gradient(k, &w, &b);
            opt.step(&mut w, g);
        }
        w
    }

    /// Alg. 1, `w_{t+1} ← Σ_k n_k/m_t · w_{t+1}^k`.
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.weighted_mean(|k| k.num_examples())
    }

    /// `∇ℓ(w; b)`.
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| self.loss(k, w, b) + self.regularizer(k, w))
    }

    /// `ℓ(w; b)`: what the model is trained for, in nats; the mean cross-entropy of classifiers.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        k.loss(w, b)
    }

    /// None in FedAvg.
    fn regularizer(&self, _: &ClientCx, _: &Params) -> Scalar {
        0.0.into()
    }
}
