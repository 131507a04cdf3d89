//! Malicious clients that train on wrong labels.

use fedround::prelude::*;

use crate::FedAvg;
use crate::sign_flip::malicious;

/// The label-flipping attack. Fang, Cao, Jia and Gong 2020, "Local Model Poisoning Attacks to
/// Byzantine-Robust Federated Learning", section 5.1, <https://arxiv.org/abs/1911.11815>: a malicious
/// client trains on the labels `C − 1 − y` in place of `y`, of `C` classes.
///
/// It is here to hold aggregation rules against: `median(label-flip(fedavg))`.
///
/// Departs: malicious clients minimise the cross-entropy of a classifier, whatever the base's loss is.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "label-flip")]
pub struct LabelFlip<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Share of all clients that are malicious: those with the lowest numbers.
    #[hyper(default = 0.2, range = 0.0..=1.0)]
    pub malicious: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for LabelFlip<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        // Classes in reverse order, with the labels as they are.
        let flipped = cross_entropy(function("flipped", &k.forward(w, &b.x)), &b.y);
        let lies = malicious(k, self.malicious);
        &lies * flipped + (1.0 - &lies) * self.base.loss(k, w, b)
    }
}
