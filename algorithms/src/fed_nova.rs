//! FedNova: local progress is normalised before it is averaged.

use fedround::optim::Sgd;
use fedround::prelude::*;

/// What the number of steps of a round of [`FedNova`] is the mean of.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedNovaSteps {
    /// The norm of each client's weights of its gradients.
    Norm,
    /// The number of each client's steps.
    Steps,
}

/// FedNova. Wang et al. 2020, "Tackling the Objective Inconsistency Problem in Heterogeneous
/// Federated Optimization", Eq. (7), <https://arxiv.org/abs/2007.07481>.
///
/// Departs:
/// - The weights are `n_k / m_t` over the round's cohort.
/// - `‖a_k‖₁` is what the local solver makes of constant gradients of 1, by the solver's own
///   recursion, so that momentum and the proximal term may be used together.
/// - What a plug-in adds to the loss or to the gradient is part of the gradient, and does not count in `a_k`:
///   `fedprox(fednova)` is not the paper's proximal variant, which is `mu`. Weight decay is part of the
///   gradient as well, as in the authors' code.
/// - Running statistics of normalisation layers are averaged as they are, and neither the proximal term nor
///   weight decay pulls them.
///
/// Defaults: plain local SGD and `τ_eff = Σ p_k ‖a_k‖₁`, with which equal clients give FedAvg; the
/// authors' code has `Σ p_k τ_k` (`tau_eff = "steps"`) where `μ > 0`.
#[derive(Hyper, Debug, Clone)]
pub struct FedNova {
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
    /// `ρ`: local momentum, from zero in each round.
    #[hyper(default = 0.0, range = 0.0..1.0)]
    pub momentum: f32,
    /// Weight decay of local steps.
    #[hyper(default = 0.0, range = 0.0..)]
    pub weight_decay: f32,
    /// `μ`: weight of a proximal term.
    #[hyper(default = 0.0, range = 0.0..)]
    pub mu: f32,
    /// `τ_eff`: the mean of the clients' `norm` or of their number of `steps`.
    #[hyper(default = FedNovaSteps::Norm)]
    pub tau_eff: FedNovaSteps,
}

#[federated]
impl Algorithm for FedNova {
    fn round(&self, server: &ServerCx, x: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let (d, tau) = x.broadcast(&s_t).map(|k, x| {
            let mut y = x.clone();
            let sgd = Sgd::new(self.lr).momentum(self.momentum);
            let mut opt = sgd.weight_decay(self.weight_decay).start(&y);
            let (mut steps, mut a, mut norm) =
                (Scalar::from(0.0), Scalar::from(0.0), Scalar::from(0.0));
            for b in k.batches(self.epochs, self.batch) {
                let g = self.gradient(k, &y, &b);
                // Nothing pulls at running statistics, which the gradient has advanced.
                let start = x.replace_parts(&["Buffer"], &y);
                let pulled = g + self.mu * (&y - &start);
                opt.step(&mut y, pulled);
                // The same solver on gradients of 1: its velocity is `a`, and `x − y = η ‖a‖₁`.
                a = self.momentum * a + 1.0 - self.lr * self.mu * &norm;
                norm += &a;
                steps += 1.0;
            }
            let moved = &x - y;
            let tau = if self.tau_eff == FedNovaSteps::Norm {
                norm.clone()
            } else {
                steps
            };
            ((&moved / norm).replace_parts(&["Buffer"], &moved), tau)
        });
        let tau_eff = tau.weighted_mean(|k| k.num_examples());
        let d = d.weighted_mean(|k| k.num_examples());
        (&x - tau_eff * &d).replace_parts(&["Buffer"], &(&x - &d))
    }
}
