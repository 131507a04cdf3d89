//! SCAFFOLD: control variates against client drift.

use fedround::prelude::*;

/// SCAFFOLD. Karimireddy et al. 2020, "SCAFFOLD: Stochastic Controlled Averaging for Federated
/// Learning", Algorithm 1, <https://arxiv.org/abs/1910.06378>.
///
/// Departs:
/// - Running statistics of normalisation layers have no control variate: they are averaged with
///   the parameters, as they were trained.
/// - Option I takes the gradient at the server's model as the mean over one more pass in batches,
///   each weighing the same.
///
/// Defaults: the paper's `η_g = 1` and option II, which it uses in all experiments.
#[derive(Hyper, Debug, Clone)]
pub struct Scaffold {
    /// `C`: fraction of the clients that train in a round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub fraction: f32,
    /// `E`: local epochs.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// `B`: examples in a local batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `η_l`: local step size.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub lr: f32,
    /// `η_g`: step size of the server.
    #[hyper(default = 1.0, range = 0.0..=1000000.0)]
    pub server_lr: f32,
    /// How a client renews its variate: 1, by a gradient at the server's model; 2, from its steps.
    #[hyper(default = 2, range = 1..=2)]
    pub option: usize,
}

#[federated]
impl Algorithm for Scaffold {
    /// Algorithm 1, a round.
    fn round(&self, server: &ServerCx, x: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let c = server.state("c");
        let (dy, dc) = x.broadcast(&s_t).zip(&c.broadcast(&s_t)).map(|k, (x, c)| {
            let (c_k, mut steps) = (k.state("c_k"), Scalar::from(0.0));
            // The steps read `c − c_k` as one tree, not two.
            let (mut y, correction) = (x.clone(), c - &c_k);
            // y ← y − η_l (g_k(y) − c_k + c)
            for b in k.batches(self.epochs, self.batch) {
                y -= self.lr * (self.gradient(k, &y, &b) + &correction);
                steps += 1.0;
            }
            let c_next = if self.option == 1 {
                // c_k⁺ ← g_k(x), at a copy, as the passes move its running statistics
                let x = x.replace_parts(&["Buffer"], &x.zeros_like());
                let (mut sum, mut batches) = (x.zeros_like(), Scalar::from(0.0));
                for b in k.batches(1, self.batch) {
                    sum += self.gradient(k, &x, &b);
                    batches += 1.0;
                }
                sum / batches
            } else {
                // c_k⁺ ← c_k − c + (x − y) / (K η_l), with K steps
                (&x - &y) / (self.lr * steps) - correction
            };
            let c_next = c_next.replace_parts(&["Buffer"], &c_k);
            k.set_state("c_k", &c_next);
            // Δy and Δc
            (y - x, c_next - c_k)
        });
        // c ← c + 1/N Σ Δc, over all N clients and not only those of the round
        server.set_state("c", &(c + dc.sum() / server.num_clients()));
        // x ← x + η_g/|S| Σ Δy
        let step = dy.mean();
        (&x + self.server_lr * &step).replace_parts(&["Buffer"], &(&x + &step))
    }
}
