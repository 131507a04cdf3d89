//! Disentangled representations: features that all domains share, apart from features of one domain.

use fedround::prelude::*;

use crate::FedAvg;

/// Representations taken apart into a half that tells the class in any domain, and one that does
/// not. Peng, Huang, Sun and Saenko 2019, "Domain Agnostic Learning with Disentangled
/// Representations", <https://arxiv.org/abs/1904.12347>, as FADA uses it: Peng et al. 2020, Eq. (4)
/// to (8), <https://arxiv.org/abs/1911.02054>.
///
/// Departs:
/// - Networks that work against each other take their steps at once, on one batch; the algorithm
///   takes turns.
/// - The adversaries learn from representations as they are in inference, which is another thing where
///   a model normalises batches or drops units.
/// - The classifier learns from representations and from their invariant half, so that the model
///   predicts without the disentangler.
///
/// Defaults: ours; the papers' texts give no weights.
#[derive(Hyper, Debug, Clone)]
pub struct Disentangled<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Weight of the entropy of classes told by the half that is specific to a domain.
    #[hyper(default = 0.1, range = 0.0..)]
    pub entropy: f32,
    /// Weight of the information that the halves share.
    #[hyper(default = 0.1, range = 0.0..)]
    pub mutual: f32,
    /// Weight of the error of putting the halves together.
    #[hyper(default = 0.1, range = 0.0..)]
    pub rebuild: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Disentangled<A> {
    /// What all but the adversaries descend on: Eq. (4), (6) and (8).
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let (f, halves, (di, ds)) = take_apart(k, w, b);
        let told = k.apply("classify_specific", w, &ds);
        self.base.loss(k, w, b) + cross_entropy(k.apply("head", w, &di), &b.y)
            - self.entropy * loss("entropy", &told)
            + self.mutual * information(k, w, &di, &ds)
            + self.rebuild * loss("mse", (&k.apply("rebuild", w, &halves), &f))
    }

    /// The adversaries' own: classes told by the specific half, and the bound of Eq. (7).
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let (_, _, (di, ds)) = take_apart(k, w, b);
        let against = grad(w, |w| {
            let told = k.apply("classify_specific", w, &ds);
            cross_entropy(told, &b.y) - information(k, w, &di, &ds)
        });
        let g = self.base.gradient(k, w, b);
        g.replace_parts(&["specific", "mutual"], &against)
    }
}

/// A representation, its halves side by side, and the invariant and the specific one.
fn take_apart(k: &ClientCx, w: &Params, b: &Batch) -> (Tensor, Tensor, (Tensor, Tensor)) {
    let f = k.apply("represent", w, &b.x);
    let halves = k.apply("disentangle", w, &f);
    let each = (function("front", &halves), function("back", &halves));
    (f, halves, each)
}

/// A bound on what the halves tell of each other, Eq. (7).
fn information(k: &ClientCx, w: &Params, di: &Tensor, ds: &Tensor) -> Scalar {
    let score = |ds: &Tensor| k.apply("mutual", w, (di, ds));
    let apart = score(&function("rolled", ds));
    loss("mutual_information", (&score(ds), &apart))
}
