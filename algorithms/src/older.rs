//! ADCOL against discriminators of several rounds.

use fedround::prelude::*;

use crate::Adcol;
use crate::representations::{RepresentationNoise, judged};

/// How large the representations are that the discriminators of [`Older`] see.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OlderSize {
    /// Representations as the model makes them.
    Raw,
    /// Scaled to a mean square of 1, which goes with `normalised = true` of ADCOL.
    Normalised,
    /// Scaled to an L1 norm of 1, which goes with `noise = "laplace"` of ADCOL.
    L1,
}

/// Representations of that size.
fn sized(r: &Tensor, size: OlderSize) -> Tensor {
    match size {
        OlderSize::Raw => r.clone(),
        OlderSize::Normalised => judged(r, true, RepresentationNoise::None),
        OlderSize::L1 => judged(r, false, RepresentationNoise::Laplace),
    }
}

/// ADCOL with `N_d` discriminators, those of the last rounds. Li, He and Song 2023, "Adversarial
/// Collaborative Learning on Non-IID Features", Eq. (18) and Table 10,
/// <https://icml.cc/virtual/2023/poster/24741>.
///
/// A party keeps the discriminators that it was sent, so that nothing more crosses.
///
/// Departs:
/// - A party that sat out a round has those of its own last rounds.
/// - The sum is over `i` from 0, so that one discriminator is ADCOL's. Before round `N_d`, the oldest are
///   the untrained one that a party is first sent.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "older")]
pub struct Older<A = Adcol> {
    /// ADCOL, the one discriminator of which is among them.
    pub base: A,
    /// `N_d`.
    #[hyper(default = "2", choices = ["1", "2", "5", "10", "20"])]
    pub discriminators: String,
    /// `μ`, in place of the base's.
    #[hyper(default = 1.0, range = 0.0..)]
    pub mu: f32,
    /// How large the representations are that parties train against: as large as those that ADCOL sends by
    /// its `normalised` and `noise`, on which the server trains the discriminators.
    #[hyper(default = OlderSize::Raw)]
    pub size: OlderSize,
}

/// `Dⁱ`, what was received `i` rounds ago: in round `t` that of round `max(1, t − i)`.
fn received(k: &ClientCx, i: usize) -> Params {
    let d = k.global_params();
    // No model is in it, so that none is sent.
    let d = d.replace_parts(&["Model"], &d.zeros_like());
    match i {
        0 => d,
        _ => k.state_or(&format!("ago_{i}"), &d),
    }
}

/// How many `Dⁱ` there are.
fn count(discriminators: &str) -> usize {
    discriminators.parse().unwrap_or(1)
}

/// `1/N_d Σ_i f(Dⁱ)`.
fn mean(k: &ClientCx, count: usize, f: impl Fn(&Params) -> Scalar) -> Scalar {
    let each = (0..count).map(|i| f(&received(k, i)));
    let sum = each.reduce(|sum, one| sum + one);
    sum.map_or(0.0.into(), |sum| 1.0 / count as f64 * sum)
}

/// Another round is over: the oldest is forgotten.
fn grow_older(k: &ClientCx, count: usize) {
    for i in (1..count).rev() {
        k.set_state(&format!("ago_{i}"), &received(k, i - 1));
    }
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Older<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        grow_older(k, count(&self.discriminators));
        w
    }

    /// `ℓ = CE(F(x), y) + μ/N_d Σ_i KL(u ‖ Dⁱ(G(x)))`, Eq. (18).
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let r = k.apply("represent", w, &b.x);
        let seen = sized(&r, self.size);
        let told = mean(k, count(&self.discriminators), |d| {
            let d = d.replace_parts(&["Model"], w);
            loss("kl_from_uniform", &k.apply("discriminate", &d, &seen))
        });
        cross_entropy(k.apply("head", w, &r), &b.y) + self.mu * told
    }
}
