//! FedMD: clients teach each other by their class scores of public examples.

use fedround::prelude::*;

use crate::FedAvg;

/// FedMD. Li and Wang 2019, "FedMD: Heterogenous Federated Learning via Model Distillation",
/// Algorithm 1, <https://arxiv.org/abs/1910.03581>.
///
/// No model leaves its client. In the first round each client trains on all public examples and then on
/// its own (transfer learning). In each round after it the clients send their class scores of some public
/// examples (communicate), the server averages them (aggregate, distribute), and each client trains its
/// model to give the mean (digest) and then, by the base's steps, on its own examples (revisit).
///
/// It reads public examples: a run needs `--public-share`.
///
/// Departs:
/// - All clients have the same architecture, each with weights of its own: a run has one model.
/// - Transfer learning takes a fixed number of passes; the paper trains to convergence.
/// - Digesting descends on the mean squared difference of scores by plain SGD; the paper gives neither a
///   distance nor an optimizer.
///
/// Defaults: the paper's 5000 public examples in a round. It gives no step sizes, and "a few epochs".
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "fedmd")]
pub struct FedMd<A = FedAvg> {
    /// What trains on a client's own examples.
    pub base: A,
    /// Share of the clients in a round.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub share: f32,
    /// Public examples of a round, or all where there are fewer.
    #[hyper(default = 5000, range = 1..)]
    pub examples: usize,
    /// Passes over all public examples in the first round.
    #[hyper(default = 5, range = 0..)]
    pub transfer: usize,
    /// Passes over the public examples of a round.
    #[hyper(default = 1, range = 0..)]
    pub digest: usize,
    /// Public examples in a batch.
    #[hyper(default = 64, range = 1..)]
    pub rows: usize,
    /// Step size on public examples.
    #[hyper(default = 0.05, range = 0.0..=1000000.0)]
    pub public_lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedMd<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        if server.phase("transfer", 1) {
            w.broadcast(&server.all_clients()).map(|k, w| {
                let (mut w, public) = (self.personalize(k, w), k.public());
                for (x, y) in k.rows(self.transfer, self.rows, (public.x, public.y)) {
                    w -= self.public_lr * grad(&w, |w| cross_entropy(k.forward(w, &x), &y));
                }
                k.set_state("own", &self.base.client_update(k, w));
            });
        } else {
            let w_k = w.broadcast(&server.sample(self.share));
            let z_k = w_k.map(|k, w| {
                let x = k.public_of_round(self.examples).x;
                let z = k.forward(&self.personalize(k, w), &x);
                z.release("class scores of public examples, Alg. 1")
            });
            let z = z_k.mean().broadcast(&server.current_cohort());
            w_k.zip(&z).map(|k, (w, z)| {
                let mut w = self.personalize(k, w);
                let x = k.public_of_round(self.examples).x;
                for (x, z) in k.rows(self.digest, self.rows, (x, z)) {
                    w -= self.public_lr * grad(&w, |w| loss("mse", (&k.forward(w, &x), &z)));
                }
                k.set_state("own", &self.base.client_update(k, w));
            });
        }
        w
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("own", &w)
    }
}
