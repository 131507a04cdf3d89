//! `priv.*`: ops that keep data private, and statements of the algorithm about privacy.

use super::super::Place;
use super::effect::Effect;
use crate::text::attribute::{AttributeText, Codec, Piece, TextAttributes};
use crate::text::codecs::Quoted;
use crate::text::ops;

/// A model of differential privacy. It says who adds the noise, and so who must be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dp {
    /// Every client adds noise to what it uploads.
    Local,
    /// The server adds noise to its aggregates.
    Central,
}

impl Dp {
    /// Its name in text: `local` or `central`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Central => "central",
        }
    }
}

/// An op of privacy.
#[derive(Clone, Debug, PartialEq)]
pub enum PrivacyOp {
    /// `priv.release "why"`: `(T) -> T`, a tensor or labels; the spec's statement that something
    /// derived from examples may leave its client, with the reason that `explain` prints.
    Release(String),
    /// `priv.clip`: `(params x, f32 bound) -> params`, or of a tensor or a number; `min(1, C / ‖x‖) · x`.
    Clip,
    /// `priv.noise`: `(params x, f32 sigma) -> params`, or of a tensor or a number; `x + N(0, σ² I)`, drawn
    /// anew each time.
    Noise,
    /// `priv.tree_noise`: `(params x, f32 sigma, cohort) -> params`; `x + N_t − N_{t−1}`, where `N_t` is the sum
    /// of the noise of those nodes of a binary tree over the rounds of a pass that make up its first `t`
    /// rounds, `N(0, σ² I)` each. The sums of such values over rounds have the noise `N_t` alone. The cohort
    /// is a `fed.reshuffled`, and the tree begins anew in each of its passes.
    TreeNoise,
    /// `priv.clip_rows`: `(tensor x, f32 bound) -> tensor`; as `priv.clip`, each row by its own norm.
    ClipRows,
    /// `priv.laplace`: `(tensor x, f32 b) -> tensor`; `x +` Laplace noise of scale `b`, drawn anew
    /// each time.
    Laplace,
    /// `priv.l1_rows`: `(tensor x) -> tensor`; each row divided by its L1 norm, which is at most 1 then.
    /// Rows of zeros stay zeros. Laplace noise on such rows hides each of them.
    L1Rows,
    /// `priv.claim "local"`: `() -> ()`; the model of differential privacy that the algorithm claims.
    /// The verifier checks the claim.
    Claim(Dp),
}

ops! { PrivacyOp {
    "priv.release" = Release [reason: Quoted];
    "priv.clip" = Clip [];
    "priv.noise" = Noise [];
    "priv.tree_noise" = TreeNoise [];
    "priv.clip_rows" = ClipRows [];
    "priv.laplace" = Laplace [];
    "priv.l1_rows" = L1Rows [];
    "priv.claim" = Claim [model: DpName];
} }

impl PrivacyOp {
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            Self::Release(_) => Some(Place::Client),
            Self::Claim(_) | Self::TreeNoise => Some(Place::Server),
            Self::Clip | Self::Noise | Self::ClipRows | Self::Laplace | Self::L1Rows => None,
        }
    }

    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::Claim(_) => Effect::Writes,
            Self::Noise | Self::TreeNoise | Self::Laplace => Effect::Draws,
            Self::Release(_) | Self::Clip | Self::ClipRows | Self::L1Rows => Effect::Pure,
        }
    }
}

/// `"local"` or `"central"`.
struct DpName;

impl Codec<Dp> for DpName {
    fn write(value: &Dp, label: &'static str, to: &mut AttributeText) {
        Quoted::write(&value.name().to_owned(), label, to);
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Dp, String> {
        let model = from.plain(|piece| match piece {
            Piece::Text(name) => [Dp::Local, Dp::Central]
                .into_iter()
                .find(|dp| dp.name() == name),
            _ => None,
        });
        model.ok_or_else(|| "`\"local\"` or `\"central\"`".to_owned())
    }
}
