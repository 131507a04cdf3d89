//! The encodings of parameters for the wire, such as top-k and quantisation.

use super::super::Kind;
use super::codec::quoted_name;
use crate::text::attribute::{AttributeText, Codec, TextAttributes};
use crate::text::codecs::Quoted;

/// A lossy codec of parameters, whose setting is an operand. Its formulas and byte layout are those of
/// the crate `fedround-codec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `"top-k"`: a share of the entries, the largest.
    TopK,
    /// `"random-k"`: a share of the entries at random, each times `n / k`.
    RandomK,
    /// `"unscaled-random-k"`: the same entries as they are.
    UnscaledRandomK,
    /// `"quantize"`: so many bits for each entry, rounded at random.
    Quantize,
    /// `"sign"`: one bit for each entry, and a scale; without a setting.
    Sign,
    /// `"low-rank"`: two matrices of a rank for each matrix.
    LowRank,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 6] = [
        Self::TopK,
        Self::RandomK,
        Self::UnscaledRandomK,
        Self::Quantize,
        Self::Sign,
        Self::LowRank,
    ];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TopK => "top-k",
            Self::RandomK => "random-k",
            Self::UnscaledRandomK => "unscaled-random-k",
            Self::Quantize => "quantize",
            Self::Sign => "sign",
            Self::LowRank => "low-rank",
        }
    }

    /// The kind of its setting, if it has one.
    pub const fn setting(self) -> Option<Kind> {
        match self {
            Self::TopK | Self::RandomK | Self::UnscaledRandomK => Some(Kind::Scalar),
            Self::Quantize | Self::LowRank => Some(Kind::Index),
            Self::Sign => None,
        }
    }

    /// Whether it draws random numbers.
    pub(super) const fn is_random(self) -> bool {
        match self {
            Self::RandomK | Self::UnscaledRandomK | Self::Quantize | Self::LowRank => true,
            Self::TopK | Self::Sign => false,
        }
    }

    /// What its setting must be, if `found` is not that.
    pub(crate) fn refuses(self, found: f64) -> Option<&'static str> {
        let (allowed, expected) = match self {
            Self::TopK | Self::RandomK | Self::UnscaledRandomK => {
                (found > 0.0 && found <= 1.0, "a share above 0 and up to 1")
            }
            Self::Quantize => ((2.0..=16.0).contains(&found), "2 to 16 bits"),
            Self::LowRank => (found >= 1.0, "a rank of at least 1"),
            Self::Sign => (true, ""),
        };
        (!allowed).then_some(expected)
    }
}

/// `"top-k"` and the others.
pub(super) struct EncodingName;

impl Codec<Encoding> for EncodingName {
    fn write(value: &Encoding, label: &'static str, to: &mut AttributeText) {
        Quoted::write(&value.name().to_owned(), label, to);
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Encoding, String> {
        quoted_name(from, "an encoding", Encoding::ALL, Encoding::name)
    }
}
