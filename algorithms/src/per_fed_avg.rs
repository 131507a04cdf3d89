//! Per-FedAvg: an initial model that one local step makes a client's own.

use fedround::prelude::*;

/// What becomes of the Hessian in a step of [`PerFedAvg`].
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerFedAvgVariant {
    /// It is dropped.
    FirstOrder,
    /// Its product with a vector is a difference of two gradients.
    HessianFree,
    /// The gradient is differentiated.
    Exact,
}

/// Per-FedAvg. Fallah, Mokhtari and Ozdaglar 2020, "Personalized Federated Learning with
/// Theoretical Guarantees: A Model-Agnostic Meta-Learning Approach", Algorithm 1,
/// <https://arxiv.org/abs/2002.07948>.
///
/// Departs:
/// - Local steps are counted in passes over the client's data: a pass has as many steps as batches, and
///   `D′` goes through them. `D` and `D″` are drawn anew for each step from all examples, so that they may
///   share examples with `D′` and with each other. The paper draws all three independently, for `τ` steps.
/// - Clients are weighted by their examples; the paper averages them equally.
///
/// Defaults: `α = 0.01`, `β = 0.001` and `δ = 0.001` as in the paper's experiments, with the
/// Hessian-free variant.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "per-fedavg")]
pub struct PerFedAvg {
    /// `r`: fraction of the clients that train in a round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub fraction: f32,
    /// Local epochs.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// Examples in a local batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `α`: step size of the inner step, which makes the model a client's own.
    #[hyper(default = 0.01, range = 0.0..=1000000.0)]
    pub alpha: f32,
    /// `β`: step size of the outer step.
    #[hyper(default = 0.001, range = 0.0..=1000000.0)]
    pub lr: f32,
    /// What becomes of the Hessian: `first-order` drops it, `hessian-free` takes a difference of
    /// gradients, `exact` differentiates the gradient.
    #[hyper(default = PerFedAvgVariant::HessianFree)]
    pub variant: PerFedAvgVariant,
    /// `δ`: half the distance of the difference, which is divided by it.
    #[hyper(default = 0.001, range = 0.000001..=1000.0)]
    pub delta: f32,
}

#[federated]
impl Algorithm for PerFedAvg {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    /// `w ← w − β (I − α ∇²f(w; D″)) ∇f(w − α ∇f(w; D); D′)`, Eq. (10) and (12).
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(self.epochs, self.batch) {
            let (inner, curve) = (k.batch(self.batch), k.batch(self.batch));
            let there = &w - self.alpha * self.gradient(k, &w, &inner);
            let v = self.gradient(k, &there, &b);
            let hessian_v = match self.variant {
                PerFedAvgVariant::FirstOrder => v.zeros_like(),
                PerFedAvgVariant::Exact => grad(&w, |w| self.gradient(k, w, &curve).dot(&v)),
                PerFedAvgVariant::HessianFree => {
                    let (up, down) = (&w + self.delta * &v, &w - self.delta * &v);
                    let change = self.gradient(k, &up, &curve) - self.gradient(k, &down, &curve);
                    change / (2.0 * self.delta)
                }
            };
            w -= self.lr * (v - self.alpha * hessian_v);
        }
        w
    }

    /// One step of size `α` on the client's data.
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        &w - self.alpha * self.gradient(k, &w, &k.batch(self.batch))
    }
}
