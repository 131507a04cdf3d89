//! ADCOL: local models whose representations a discriminator on the server cannot tell apart.

use fedround::optim::Sgd;
use fedround::prelude::*;

use crate::FedAvg;
use crate::representations::{RepresentationNoise, judged, sent};

/// ADCOL. Li, He and Song 2023, "Adversarial Collaborative Learning on Non-IID Features",
/// Algorithm 1 and Eq. (2), <https://icml.cc/virtual/2023/poster/24741>.
///
/// No model leaves its party: representations go up, the discriminator comes down. It is one of the
/// networks of `w`, of which all else is each party's own.
///
/// Departs:
/// - Representations are those of the trained model in inference, of inputs as they are in training
///   where `--augment` changes them; the paper does not say.
/// - Each party keeps no state of its optimizer from round to round.
/// - With `noise = "laplace"`, representations have an L1 norm of 1, so that noise of scale `2/ε`
///   gives ε for one of them; the paper's scale is `1/ε` of representations that it does not bound.
///   Parties train against the discriminator with such rows, too, but without noise.
/// - Parties judge by the discriminator as in training: one that normalises batches, such as the auxiliary
///   `resnet`, does so over a party's own batch.
///
/// `older(adcol)` has the discriminators of earlier rounds, too, `shared-head(adcol)` one predictor of
/// all parties, `dp-sgd(adcol)` noise on the discriminator's gradients, and `fixed-parties(adcol)` a
/// discriminator of the round's parties alone.
///
/// Defaults: the paper's. Its parties train by the base's steps with `epochs = 10`, `batch = 64`,
/// `lr = 0.01`, `momentum = 0.9` and `weight_decay = 1e-5`. It does not give the discriminator's optimizer:
/// `d_lr`, `d_momentum` and `rows` are those of its parties, without weight decay.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "adcol")]
pub struct Adcol<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Share of the parties that train in a round.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub share: f32,
    /// Representations in a batch of the discriminator's.
    #[hyper(default = 64, range = 1..)]
    pub rows: usize,
    /// Step size of the discriminator.
    #[hyper(default = 0.01, range = 0.0..=1000000.0)]
    pub d_lr: f32,
    /// Momentum of the discriminator.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub d_momentum: f32,
    /// `μ`: weight of the divergence from uniform; at 0 every party trains for itself.
    #[hyper(default = 1.0, range = 0.0..)]
    pub mu: f32,
    /// Share of its representations that a party sends. It draws other ones in each round.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub sample: f32,
    /// Passes of the discriminator over the representations that the server received.
    #[hyper(default = 1, range = 1..)]
    pub passes: usize,
    /// Whether the discriminator sees rows of the same size, those of a mean square of 1.
    #[hyper(default = false)]
    pub normalised: bool,
    /// Noise on representations, for a server that is not trusted.
    #[hyper(default = RepresentationNoise::None)]
    pub noise: RepresentationNoise,
    /// `ε` of a representation under that noise.
    #[hyper(default = 5.0, range = 0.01..)]
    pub epsilon: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Adcol<A> {
    /// Algorithm 1, a round: of `w` the server sends and trains the discriminator alone.
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.share);
        // Parties train against D, and send R_i = G_i(x) of their examples.
        let r_k = w.broadcast(&s_t).map(|k, w| {
            let w = self.client_update(k, w);
            let rows = (self.rows, self.sample, self.normalised);
            let r = sent(k, &w, rows, (self.noise, self.epsilon));
            r.release("representations, Alg. 1")
        });
        let r_k = r_k.gather();
        // {(R_i, i)}
        let (r, id) = (r_k.concat(), r_k.map(|k, r| k.labels(&r)).concat());
        // D ← D − η ∇ CE(D(R), id), over shuffled mini-batches.
        let d = server.run(|s| {
            let mut w = s.get(&w);
            let sgd = Sgd::new(self.d_lr).momentum(self.d_momentum);
            let mut opt = sgd.resume(s, "sgd", &w);
            for (r, id) in s.rows(self.passes, self.rows, (s.get(&r), s.get(&id))) {
                let g = self.server_gradient(s, &w, &r, &id);
                opt.step(&mut w, g);
            }
            opt.keep(s, "sgd");
            w
        });
        w.replace_parts(&["discriminator"], &d)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, self.personalize(k, w));
        k.set_personal(&["Model"], &w);
        w
    }

    /// `∇ CE(D(R), id)`.
    fn server_gradient(&self, s: &ServerComputeCx, w: &Params, r: &Tensor, id: &Labels) -> Params {
        grad(w, |w| cross_entropy(s.apply("discriminate", w, r), id))
    }

    /// `ℓ = CE(F(x), y) + μ KL(u ‖ D(G(x)))`, Eq. (2); `D` is as it was received.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let r = k.apply("represent", w, &b.x);
        let d = k.global_params().replace_parts(&["Model"], w);
        let d = k.apply("discriminate", &d, &judged(&r, self.normalised, self.noise));
        cross_entropy(k.apply("head", w, &r), &b.y) + self.mu * loss("kl_from_uniform", &d)
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.personal(&["Model"], &w)
    }
}
