//! Fair representations: an adversary on the device looks for protected attributes.

use fedround::prelude::*;

use crate::FedAvg;

/// Fair representations of LG-FedAvg. Liang, Liu et al. 2020, "Think Locally, Act Globally: Federated
/// Learning with Local and Global Representations", section 3.4 and Eq. (24) and (25),
/// <https://arxiv.org/abs/2001.01523>.
///
/// The data has a column `protected` of attributes, 0 or 1, such as race and gender of `adult`. The
/// adversary never leaves its device.
///
/// Departs:
/// - Representation, classifier and adversary step at once, each from where it was; the paper takes
///   turns. With `ahead`, the adversary learns alone before each local training, where in the authors' code
///   it does so once, before the joint rounds; with `before`, it takes some steps before each of the others',
///   who see the adversary that they lead to.
///   The base takes all of them at once, so that they are those of its step size if `ahead_lr` is that.
/// - `λ` is one number for all attributes, over their mean; the paper gives none, its code 30 and
///   0.03. In every step 30 does not converge.
/// - The first stage, Eq. (24), has the global loss in place of a local one, whose network the paper's
///   experiments do not have; `apart` are its rounds, without the penalty, as in the code.
///
/// Defaults: ours are `λ = 1` from the first step, and neither rounds nor epochs nor steps of the adversary
/// alone; `ahead_batch = 32` and `ahead_lr = 0.1` are the paper's batch and step size.
#[derive(Hyper, Debug, Clone)]
pub struct Fair<A = FedAvg> {
    /// What trains; LG-FedAvg in the paper, `fair(lg-fedavg)`.
    pub base: A,
    /// `λ`: how much representations are to hide; at 0 the adversary only looks.
    #[hyper(default = 1.0, range = 0.0..)]
    pub lambda: f32,
    /// Rounds before, in which the adversary only looks: the representation is trained for its task
    /// alone.
    #[hyper(default = 0, range = 0..)]
    pub apart: usize,
    /// Rounds after these until `λ` is whole: it is a tenth in the first third of them, and 0.3 of it in
    /// the second.
    #[hyper(default = 0, range = 0..)]
    pub ramp: usize,
    /// Steps that the adversary takes before each of the others', on the same batch.
    #[hyper(default = 0, range = 0..)]
    pub before: usize,
    /// Epochs that the adversary learns alone before the others' steps.
    #[hyper(default = 0, range = 0..)]
    pub ahead: usize,
    /// Examples in a batch of those epochs.
    #[hyper(default = 32, range = 1..)]
    pub ahead_batch: usize,
    /// Step size of those epochs, and of those steps before.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub ahead_lr: f32,
}

/// Gradient of `L_r`: what the adversary finds of the protected attributes.
fn found(k: &ClientCx, w: &Params, b: &Batch) -> Params {
    grad(w, |w| {
        let p = k.apply("expose", w, &k.apply("features", w, &b.x));
        loss("attributes", (&p, &b.tensor("protected")))
    })
}

/// The share of `λ` in a round.
fn ramped(k: &ClientCx, apart: Index, ramp: Index) -> Scalar {
    let t = k.round() - apart + 0.5;
    let rising = (ramp.clone() - 3.0 * &t).select(0.1, (ramp - 1.5 * &t).select(0.3, 1.0));
    t.select(rising, 0.0)
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Fair<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = self.personalize(k, w);
        for b in k.batches(self.ahead, self.ahead_batch) {
            let r = found(k, &w, &b);
            w = w.replace_parts(&["adversary"], &(&w - self.ahead_lr * r));
        }
        // The base may personalise again.
        k.set_personal(&["adversary"], &w);
        let w = self.base.client_update(k, w);
        k.set_personal(&["adversary"], &w);
        w.replace_parts(&["adversary"], &k.global_params())
    }

    /// `min_{f,g} max_r L_g − λ L_r`: the adversary descends on its own loss.
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let (mut r, mut walked) = (w.clone(), w.zeros_like());
        for _ in 0..self.before {
            let g = found(k, &r, b);
            r = r.replace_parts(&["adversary"], &(&r - self.ahead_lr * &g));
            walked += g;
        }
        let found = found(k, &r, b);
        let g = self.base.gradient(k, w, b);
        let lambda = self.lambda * ramped(k, self.apart, self.ramp);
        (g - lambda * &found).replace_parts(&["adversary"], &(walked + found))
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.personal(&["adversary"], &self.base.personalize(k, w))
    }
}
