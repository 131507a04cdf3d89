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
///   turns. With `ahead`, the adversary learns alone before each local training, as in its code.
/// - `λ` is one number for all attributes, over their mean; the paper gives none, its code 30 and
///   0.03. In every step 30 does not converge.
#[derive(Hyper, Debug, Clone)]
pub struct Fair<A = FedAvg> {
    /// What trains; LG-FedAvg in the paper, `fair(lg-fedavg)`.
    pub base: A,
    /// `λ`: how much representations are to hide; at 0 the adversary only looks.
    #[hyper(default = 1.0, range = 0.0..)]
    pub lambda: f32,
    /// Epochs that the adversary learns alone before the others' steps.
    #[hyper(default = 0, range = 0..)]
    pub ahead: usize,
    /// Examples in a batch of those epochs.
    #[hyper(default = 32, range = 1..)]
    pub ahead_batch: usize,
    /// Step size of those epochs.
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
        let found = found(k, w, b);
        let g = self.base.gradient(k, w, b);
        (g - self.lambda * &found).replace_parts(&["adversary"], &found)
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.personal(&["adversary"], &self.base.personalize(k, w))
    }
}
