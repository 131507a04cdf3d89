//! Step sizes that fall where the loss of validation clients does not.

use fedround::prelude::*;

use crate::FedAvg;

/// AdFL's step sizes. Danilenka, Ganzha, Paprzycki and Mańdziuk 2022, "Using adversarial images to
/// improve outcomes of federated learning for non-IID data", <https://arxiv.org/abs/2206.08124>: they
/// fall by the inverse square root, as the mean loss of validation clients says.
///
/// In the paper `validated(adfl)`. The first clients validate, and never train; the round's cohort is
/// of the others.
///
/// Departs:
/// - Local steps are `1/√(p + 1)` of the base's, where `p` counts the rounds after which the loss was
///   no lower than ever before; the paper counts "passed epochs" and does not say when one passes. It is
///   the direction that becomes shorter, so that the base's weight decay stays.
/// - The paper does not give the number of validation clients. Their examples are as in training
///   where `--augment` changes them.
#[derive(Hyper, Debug, Clone)]
pub struct Validated<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients that validate.
    #[hyper(default = 5, range = 1..)]
    pub validators: usize,
    /// Share of the others that train in a round.
    #[hyper(default = 0.2, range = 0.0..=1.0)]
    pub share: f32,
    /// The largest number of examples of a validation client on which its loss is measured. They are drawn again in each round.
    #[hyper(default = 1000, range = 1..)]
    pub examples: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Validated<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.clients_except(0, self.validators).sample(self.share);
        let (passed, best) = (server.scalar_state("passed"), server.scalar_state("best"));
        let sent = w.broadcast(&s_t).zip(&passed.broadcast(&s_t));
        let w_k = sent.map(|k, (w, passed)| {
            k.set_state("passed", &passed);
            self.client_update(k, w)
        });
        let w = self.aggregate(server, w_k);
        let validators = w.broadcast(&server.clients(0, self.validators));
        let loss = validators.map(|k, w| self.loss(k, &w, &k.batch(self.examples)));
        let loss = loss.mean();
        // Before the second round there is none to compare with.
        let best = server.round().select(&best, &loss + 1.0);
        let failed = &passed + 1.0;
        server.set_state("passed", &(&best - &loss).select(&passed, failed));
        server.set_state("best", &best.min(&loss));
        w
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        1.0 / (k.scalar_state("passed") + 1.0).sqrt() * self.base.gradient(k, w, b)
    }
}
