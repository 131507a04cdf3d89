//! FedOpt: adaptive optimizers on the server.

use fedround::prelude::*;

use crate::FedAvg;

/// How [`FedOpt`] keeps the squares of the updates.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedOptRule {
    /// Their sum.
    Adagrad,
    /// Their running mean.
    Adam,
    /// A mean that grows and falls by at most a share of a square.
    Yogi,
}

/// FedAdagrad, FedAdam and FedYogi. Reddi et al. 2021, "Adaptive Federated Optimization",
/// Algorithm 2, <https://arxiv.org/abs/2003.00295>.
///
/// Departs:
/// - `v` starts at 0 and not at `τ²`: the paper's remark that it may start anywhere at least `τ²`
///   keeps early steps small, which `τ` in the denominator does here.
/// - The mean of the updates is the base's, over FedAvg one that is weighted by examples; the paper's is not
///   weighted.
/// - Running statistics of normalisation layers are the base's.
///
/// Defaults: the paper's `β₁ = 0.9`, `β₂ = 0.99`, and `τ = 10⁻³`, the value it fixes for most
/// tasks; `η` it tunes. Algorithm 2 has the same `m` for all three rules, as here, but the paper's
/// experiments run FedAdagrad without momentum: `rule = "adagrad"` with `beta1 = 0`.
#[derive(Hyper, Debug, Clone)]
pub struct FedOpt<A = FedAvg> {
    /// The algorithm whose rounds give the server's gradient.
    pub base: A,
    /// How the squares are kept: `adagrad`, `adam` or `yogi`.
    #[hyper(default = FedOptRule::Adam)]
    pub rule: FedOptRule,
    /// `η`: step size of the server.
    #[hyper(default = 0.01, range = 0.0..=1000000.0)]
    pub server_lr: f32,
    /// `β₁`: how much of the last direction is kept.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub beta1: f32,
    /// `β₂`: how much of the squares is kept, by `adam` and `yogi`.
    #[hyper(default = 0.99, range = 0.0..1.0)]
    pub beta2: f32,
    /// `τ`: how adaptive it is; smaller is more. At 0, parameters without an update would be `0 / 0`.
    #[hyper(default = 0.001, range = 0.000000000001..=1000000.0)]
    pub tau: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedOpt<A> {
    /// Alg. 2: `m ← β₁ m + (1 − β₁) Δ`, `v` by the rule, `w ← w + η m / (√v + τ)`.
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let next = self.base.round(server, w.clone());
        let (delta, v) = (&next - &w, server.state("v"));
        let m = self.beta1 * server.state("m") + (1.0 - self.beta1) * &delta;
        let square = delta.mul(&delta);
        let v = match self.rule {
            FedOptRule::Adagrad => v + square,
            FedOptRule::Adam => self.beta2 * v + (1.0 - self.beta2) * square,
            // v − (1 − β₂) Δ² sign(v − Δ²)
            FedOptRule::Yogi => {
                let step = (1.0 - self.beta2) * &square;
                (&v - square).select(&(&v - &step), &(&v + &step))
            }
        };
        server.set_state("m", &m);
        server.set_state("v", &v);
        (w + self.server_lr * m.div(&v.sqrt().add_scalar(self.tau)))
            .replace_parts(&["Buffer"], &next)
    }
}
