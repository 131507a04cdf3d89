//! MimeLite: the server's momentum in every local step.

use fedround::prelude::*;

/// MimeLite with momentum. Karimireddy, Jaggi, Kale, Mohri, Reddi, Stich and Suresh 2020, "Mime: Mimicking
/// Centralized Stochastic Algorithms in Federated Learning", Algorithm 1 without the control variates,
/// <https://arxiv.org/abs/2008.03606>.
///
/// Clients step along `(1 − β) g + β m` with the server's momentum `m`, which they leave as it is. The
/// server renews it by the mean of the clients' gradients at `wᵗ`, over all of their examples. Clients keep
/// nothing between rounds.
///
/// Departs:
/// - Both means are weighted by examples; the paper's are not weighted.
/// - The gradient at `wᵗ` is the mean over one more pass in batches, each weighing the same.
/// - Running statistics of normalisation layers have no momentum: they are averaged as they were trained.
///
/// Defaults: the paper tunes `β` among 0, 0.9 and 0.99.
#[derive(Hyper, Debug, Clone)]
pub struct MimeLite {
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
    /// `β`: the server's momentum.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub beta: f32,
}

#[federated]
impl Algorithm for MimeLite {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let m = server.state("m");
        let sent = w.broadcast(&s_t).zip(&m.broadcast(&s_t));
        let (y_k, g_k) = sent.map(|k, (w, m)| {
            let (mut y, mut g) = (w.clone(), w.zeros_like());
            for b in k.batches(self.epochs, self.batch) {
                let step = (1.0 - self.beta) * self.gradient(k, &y, &b) + self.beta * &m;
                y -= self.lr * step;
            }
            let mut passes = Scalar::from(0.0);
            for b in k.batches(1, self.batch) {
                g += self.gradient(k, &w, &b);
                passes += 1.0;
            }
            (y, (g / passes).replace_parts(&["Buffer"], &m))
        });
        let g = g_k.weighted_mean(|k| k.num_examples());
        server.set_state("m", &((1.0 - self.beta) * g + self.beta * m));
        self.aggregate(server, y_k)
    }
}
