//! ADCOL against a discriminator of those alone who take part in a round.

use fedround::optim::Sgd;
use fedround::prelude::*;

use crate::Adcol;
use crate::representations::{RepresentationNoise, judged, sent};

/// ADCOL with a fixed number of parties. Li, He and Song 2023, "Adversarial Collaborative Learning on
/// Non-IID Features", B.14, <https://icml.cc/virtual/2023/poster/24741>: of many parties a few take
/// part in a round, and the discriminator tells these apart. They train alone, send representations,
/// and train again, against a discriminator that has just been trained on those.
///
/// The discriminator has as many outputs as parties take part.
///
/// Departs:
/// - The paper does not say who is dropped from one round to the next: at random, by default all.
/// - Every round begins with the same discriminator, the initial one, unless `restart = false`; the
///   paper does not say.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "fixed-parties")]
pub struct FixedParties<A = Adcol> {
    /// ADCOL, for how a party trains: `fixed-parties.noise` and what else is named below stands for
    /// its own, and there is no `share`.
    pub base: A,
    /// `μ`: weight of the divergence from uniform; at 0 every party trains for itself.
    #[hyper(default = 1.0, range = 0.0..)]
    pub mu: f32,
    /// Parties in a round.
    #[hyper(default = 5, range = 1..)]
    pub parties: usize,
    /// How many of them are dropped from round to round, for as many of the rest.
    #[hyper(default = 5, range = 0..)]
    pub dropped: usize,
    /// Representations in a batch of the discriminator's.
    #[hyper(default = 64, range = 1..)]
    pub rows: usize,
    /// Step size of the discriminator.
    #[hyper(default = 0.01, range = 0.0..=1000000.0)]
    pub d_lr: f32,
    /// Momentum of the discriminator.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub d_momentum: f32,
    /// Passes of the discriminator over the representations that the server received.
    #[hyper(default = 1, range = 1..)]
    pub passes: usize,
    /// Share of its representations that a party sends. It draws other ones in each round.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub sample: f32,
    /// Whether the discriminator sees rows of the same size, those of a mean square of 1.
    #[hyper(default = false)]
    pub normalised: bool,
    /// Noise on representations, for a server that is not trusted.
    #[hyper(default = RepresentationNoise::None)]
    pub noise: RepresentationNoise,
    /// `ε` of a representation under that noise.
    #[hyper(default = 5.0, range = 0.01..)]
    pub epsilon: f32,
    /// Whether a round begins with a new discriminator; otherwise with the last one, whose outputs
    /// are others' now.
    #[hyper(default = true)]
    pub restart: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FixedParties<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.rotating(self.parties, self.dropped);
        // (i), (ii): parties train alone and send representations. To a discriminator of zeros all are alike, so
        // that Eq. (2) is the cross-entropy.
        let alone = w.replace_parts(&["discriminator"], &w.zeros_like());
        let r_k = alone.broadcast(&s_t).map(|k, w| {
            let w = self.client_update(k, w);
            let rows = (self.rows, self.sample, self.normalised);
            let r = sent(k, &w, rows, (self.noise, self.epsilon));
            r.release("representations, B.14")
        });
        let r_k = r_k.gather();
        let (r, position) = (r_k.concat(), r_k.positions());
        // (iii): the server trains the discriminator.
        let d = server.run(|s| {
            let mut w = s.get(&w);
            let sgd = Sgd::new(self.d_lr).momentum(self.d_momentum);
            let mut opt = sgd.start(&w);
            for (r, position) in s.rows(self.passes, self.rows, (s.get(&r), s.get(&position))) {
                let g = self.server_gradient(s, &w, &r, &position);
                opt.step(&mut w, g);
            }
            w
        });
        let d = w.replace_parts(&["discriminator"], &d);
        // (iv): the same parties train against it.
        d.broadcast(&s_t).map(|k, w| {
            self.client_update(k, w);
        });
        if self.restart { w } else { d }
    }

    /// `ℓ = CE(F(x), y) + μ KL(u ‖ D(G(x)))`, Eq. (2); `D` is as it was received.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let r = k.apply("represent", w, &b.x);
        let d = k.global_params().replace_parts(&["Model"], w);
        let d = k.apply("discriminate", &d, &judged(&r, self.normalised, self.noise));
        cross_entropy(k.apply("head", w, &r), &b.y) + self.mu * loss("kl_from_uniform", &d)
    }
}
