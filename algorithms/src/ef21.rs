//! EF21: clients send the compressed difference between their gradient and the server's estimate of it.

use fedround::prelude::*;

/// EF21 with top-k. Richtárik, Sokolov and Fatkhullin 2021, "EF21: A New, Simpler, Theoretically
/// Better, and Practically Faster Error Feedback", Algorithm 2, <https://arxiv.org/abs/2106.05203>.
/// With a `fraction` below 1 it is EF21-PP of Fatkhullin et al. 2021, "EF21 with Bells & Whistles",
/// Algorithm 4, <https://arxiv.org/abs/2110.03294>.
///
/// Departs:
/// - `g⁰ = 0`, so that the first round sends `C(∇f_k(x⁰))` as every other does.
/// - `∇f_k` is the mean over one pass in batches, each weighing the same: that of all examples where
///   `B` divides their number.
/// - Running statistics of normalisation layers stay those of the initial model.
///
/// Defaults: the paper tunes `γ` and has top-1 of few hundred entries; `k/P = 0.01` is of that order.
#[derive(Hyper, Debug, Clone)]
pub struct Ef21 {
    /// `C`: fraction of the clients that take part in a round; 1 in EF21.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub fraction: f32,
    /// `B`: examples in a batch of the pass over a client's examples.
    #[hyper(default = 50, range = 1..)]
    pub batch: usize,
    /// `γ`: step size.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub lr: f32,
    /// `k/P`: share of the entries that a client sends; at 1 it is distributed gradient descent.
    #[hyper(default = 0.01, range = 0.000001..=1.0)]
    pub share: f32,
}

#[federated]
impl Algorithm for Ef21 {
    fn round(&self, server: &ServerCx, x: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let c = x.broadcast(&s_t).map(|k, x| {
            let (g_k, mut sum, mut batches) = (k.state("g_k"), x.zeros_like(), Scalar::from(0.0));
            for b in k.batches(1, self.batch) {
                sum += self.gradient(k, &x, &b);
                batches += 1.0;
            }
            let c_k = (sum / batches - &g_k).encode(Codec::top_k(self.share));
            k.set_state("g_k", &(g_k + &c_k));
            c_k
        });
        let g = server.state("g") + c.sum() / server.num_clients();
        server.set_state("g", &g);
        (&x - self.lr * g).replace_parts(&["Buffer"], &x)
    }
}
