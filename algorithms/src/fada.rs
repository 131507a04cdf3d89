//! FADA: models of labelled clients become that of a client without labels.

use fedround::prelude::*;

use crate::Disentangled;

/// FADA. Peng, Huang, Zhu and Saenko 2020, "Federated Adversarial Domain Adaptation", Algorithm 1
/// and Eq. (1) to (8), <https://arxiv.org/abs/1911.02054>.
///
/// All clients but the target are sources, and keep models of their own. Nothing reads the labels
/// of the target: the global model is its own, and its accuracy is the one to look at. The server
/// tells domains apart by features that all release.
///
/// The sources' representations are [`Disentangled`]; over another base they are not.
///
/// Departs:
/// - Clusters begin as the model's own classes, and Eq. (1) sums squared distances, as k-means does.
///   What a source gains by a round is relative to the sum of its gaps before and after, from −1 to
///   1, so that it depends neither on the number of examples nor on the width.
/// - Representations are released of inputs as they are in training, where `--augment` changes them.
/// - The weighted mean of the sources comes first and the target's alignment after it; Algorithm 1 has them
///   the other way round. The target's steps against each source's identifier begin with the same model, and
///   are averaged.
///
/// Defaults: ours; the paper's text gives no rates and no weight.
#[derive(Hyper, Debug, Clone)]
pub struct Fada<A = Disentangled> {
    /// What trains the sources.
    pub base: A,
    /// `D_T`: number of the client without labels.
    #[hyper(default = 0, range = 0..)]
    pub target: usize,
    /// Rows in a batch of the identifiers' and of the target's.
    #[hyper(default = 64, range = 1..)]
    pub rows: usize,
    /// Passes of an identifier over its source's features.
    #[hyper(default = 1, range = 1..)]
    pub passes: usize,
    /// Step size of the identifiers.
    #[hyper(default = 0.01, range = 0.0..=1000000.0)]
    pub domain_lr: f32,
    /// Step size of the target; at 0 it is the mean of the sources.
    #[hyper(default = 0.001, range = 0.0..=1000000.0)]
    pub target_lr: f32,
    /// Weight of Eq. (3) at the sources.
    #[hyper(default = 1.0, range = 0.0..)]
    pub align: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Fada<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let sources = server.clients_except(self.target, 1);
        let target = server.clients(self.target, 1);
        let represent =
            |k: &ClientCx, w: &Params| k.collect(self.rows, |b| k.apply("represent", w, &b.x));
        let released = |f: Tensor| f.release("representations, Eq. (2)");
        let f_k = w.broadcast(&sources);
        let f_k = f_k.map(|k, w| released(represent(k, &self.personalize(k, w))));
        let f_t = w.broadcast(&target).map(|k, w| released(represent(k, &w)));
        let f_t = f_t.gather().concat();
        // Eq. (2): the identifiers, as differences from how all begin.
        let d_k = f_k.gather().map(|k, f_s| {
            let mut d = k.get(&w) + k.state("domain");
            for f_s in k.rows(self.passes, self.rows, f_s) {
                let f_t = k.sample_rows(self.rows, k.get(&f_t));
                let source = |d: &Params, f: &Tensor| k.apply("tell_domain", d, f);
                d -= self.domain_lr
                    * grad(&d, |d| {
                        loss("told_apart", (&source(d, &f_s), &source(d, &f_t)))
                    });
            }
            k.set_state("domain", &(&d - k.get(&w)));
            d
        });
        let w_k = d_k.scatter().map(|k, d| self.client_update(k, d)).gather();
        // Eq. (1): how much closer the target's clusters are, as each source sees them.
        let gap_k = w_k.evaluate_on(&target, |k, w| {
            let f = represent(k, &w);
            loss("gap", (&f, &k.apply("head", &w, &f)))
        });
        let a_k = gap_k.map(|k, gap| {
            let before = k.scalar_state("gap");
            k.set_state("gap", &gap);
            before
                .select((&before - &gap) / (&before + &gap), 0.0)
                .exp()
        });
        let mean = w_k.weighted_mean(&a_k).replace_parts(&["domain"], &w);
        // Eq. (3), at the target.
        let w_k = d_k.map(|k, d| k.get(&mean).replace_parts(&["domain"], &d));
        let w_k = w_k.evaluate_on(&target, |k, d| {
            let mut w = d.clone();
            for b in k.batches(1, self.rows) {
                let is = |w: &Params| k.apply("tell_domain", &d, &k.apply("represent", w, &b.x));
                w -= self.target_lr * grad(&w, |w| loss("softplus", &-is(w)));
            }
            w
        });
        w_k.mean().replace_parts(&["domain"], &w)
    }

    fn client_update(&self, k: &ClientCx, d: Params) -> Params {
        let w = self.base.client_update(k, self.personalize(k, d));
        k.set_state("own", &w);
        w
    }

    /// With Eq. (3) at the sources.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let d = w.replace_parts(&["domain"], &k.global_params());
        let source = k.apply("tell_domain", &d, &k.apply("represent", w, &b.x));
        self.base.loss(k, w, b) + self.align * loss("softplus", &-source)
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("own", &w).replace_parts(&["domain"], &w)
    }
}
