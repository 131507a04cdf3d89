//! PartialFed: clients load a part of the global model.

use fedround::prelude::*;

use crate::FedAvg;

/// What a client of [`PartialFed`] does not load from the server.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialFedOwn {
    /// Nothing: it loads the whole model.
    None,
    /// Batch normalisation.
    Norm,
    /// The head.
    Head,
    /// Batch normalisation and the head.
    #[hyper(word = "norm+head")]
    NormAndHead,
    /// Batch normalisation and the predictor, in networks with a projection head.
    #[hyper(word = "norm+predictor")]
    NormAndPredictor,
    /// Everything: it loads nothing.
    All,
}

/// PartialFed. Sun et al. 2021, "PartialFed: Cross-Domain Personalized Federated Learning via
/// Partial Initialization", sections 3.2 and 3.3,
/// <https://proceedings.neurips.cc/paper/2021/hash/c429429bf1f2af051f2021dc92a8ebea-Abstract.html>.
///
/// A rule says which layers clients load, or each client learns it: a layer is loaded with a
/// probability `σ(s)` of its own, whose `s` descends on the client's loss before it trains, through
/// samples of Gumbel-softmax.
///
/// Departs:
/// - Rules are of two kinds of layers, the head (or the predictor) and batch normalisation.
/// - `s` and the weights take turns once a round, on the client's data; the paper alternates.
///
/// Defaults: the rule of the head and batch normalisation; the annealing is ours.
#[derive(Hyper, Debug, Clone)]
pub struct PartialFed<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// What a client does not load from the server: `none`, `norm`, `head`, `norm+head`,
    /// `norm+predictor` or `all`; nothing is read of it where clients learn that.
    #[hyper(default = PartialFedOwn::NormAndHead)]
    pub own: PartialFedOwn,
    /// Whether clients learn instead what to load.
    #[hyper(default = false)]
    pub adaptive: bool,
    /// Examples in a batch of the steps of `s`, which go over a client's data once.
    #[hyper(default = 64, range = 1..)]
    pub gate_batch: usize,
    /// Step size of `s`.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub gate_lr: f32,
    /// `τ` of the samples in the first round; in round `t` it is `τ/(t + 1)`.
    #[hyper(default = 5.0, range = 0.01..)]
    pub tau: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for PartialFed<A> {
    /// Trains and uploads all layers.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let start = if self.adaptive {
            let (own, mut s) = (k.state_or("own", &w), k.state("s"));
            for b in k.batches(1, self.gate_batch) {
                // A sample of Gumbel-softmax is σ(gate/τ). A layer is loaded where it is above ½.
                let gate = &s + logistic(&w);
                let g = grad(&gate.select(&w, &own), |w| self.loss(k, w, &b));
                // The slope of σ(gate/τ) is 1/τ · e / (1 + e)², with e = exp(−gate/τ).
                let per_tau = (k.round() + 1.0) / self.tau;
                let e = (-&per_tau * &gate).clamp(-30.0, 30.0).exp();
                let slope = per_tau * e.div(&(e.mul(&e) + 2.0 * &e).add_scalar(1.0));
                // The chain rule, straight through the choice of 0 or 1: a layer is σ · w + (1 − σ) · own.
                s -= self.gate_lr * slope.mul(&g.mul(&(&w - &own)).layer_sum());
            }
            k.set_state("s", &s);
            (s + logistic(&w)).select(&w, &own)
        } else {
            self.personalize(k, w)
        };
        let w = self.base.client_update(k, start);
        k.set_state("own", &w);
        w
    }

    /// The layers of the global model but for those that the client keeps.
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let own = k.state_or("own", &w);
        match self.own {
            _ if self.adaptive => k.state("s").select(&w, &own),
            PartialFedOwn::None => w,
            PartialFedOwn::Norm => w.replace_parts(&["BatchNorm"], &own),
            PartialFedOwn::Head => w.replace_parts(&["head"], &own),
            PartialFedOwn::NormAndHead => w.replace_parts(&["BatchNorm", "head"], &own),
            PartialFedOwn::NormAndPredictor => w.replace_parts(&["BatchNorm", "predictor"], &own),
            PartialFedOwn::All => own,
        }
    }
}

/// A draw for each layer of how much one Gumbel variable is above another: `ln E₁ − ln E₂` of two
/// exponential ones, each like `z² + z'²` of normal ones.
fn logistic(w: &Params) -> Params {
    let square = || {
        let z = w.zeros_like().clip(1.0).noise(1.0).layer_sum();
        z.mul(&z)
    };
    (square() + square()).ln() - (square() + square()).ln()
}
