//! The float type of matrix products and convolutions.

use std::fmt;
use std::str::FromStr;

use fedround_ir::tensor::DType;

/// The float type of the operands of matrix products and convolutions, forward and backward.
/// Parameters, updates, sums, losses, statistics and aggregation are `f32` in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 16-bit floats with 8 significant bits and the range of `f32`.
    BF16,
    /// 16-bit floats with 11 significant bits and a range from 6e-8 to 65504. Losses are multiplied by
    /// [`LOSS_SCALE`](Self::LOSS_SCALE) before gradients are taken, and gradients divided by it.
    F16,
}

/// The error of a text that names no [`Precision`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `f32`, `bf16` or `f16`, found `{found}`")]
pub struct PrecisionError {
    found: String,
}

impl Precision {
    /// All precisions, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::F32, Self::BF16, Self::F16];

    /// The factor that keeps small gradients within the range of `f16`. It is a power of two, so
    /// scaling is exact.
    pub const LOSS_SCALE: f64 = 1024.0;

    /// The name: `f32`, `bf16` or `f16`.
    pub fn name(self) -> &'static str {
        self.half_dtype().map_or("f32", DType::name)
    }

    /// The 16-bit type to which operands are rounded; `None` for `f32`.
    fn half_dtype(self) -> Option<DType> {
        match self {
            Self::F32 => None,
            Self::BF16 => Some(DType::BF16),
            Self::F16 => Some(DType::F16),
        }
    }

    /// The name of the pass that rounds operands; `None` for `f32`.
    pub(crate) fn pass(self) -> Option<&'static str> {
        match self {
            Self::F32 => None,
            Self::BF16 => Some("mixed-bf16"),
            Self::F16 => Some("mixed-f16"),
        }
    }

    /// The factor by which losses are multiplied before gradients are taken; `None` if they are not scaled.
    pub(crate) fn loss_scale(self) -> Option<f64> {
        (self == Self::F16).then_some(Self::LOSS_SCALE)
    }
}

impl FromStr for Precision {
    type Err = PrecisionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|known| known.name() == text);
        known.ok_or_else(|| PrecisionError {
            found: text.to_owned(),
        })
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use fedround_ir::tensor::Graph;
    use fedround_passes::Request;

    use super::*;

    #[test]
    fn names_round_trip() {
        for precision in Precision::ALL {
            assert_eq!(precision.name().parse::<Precision>().unwrap(), precision);
            if let Some(pass) = precision.pass() {
                Request::<Graph>::named(pass).unwrap();
            }
        }
        let error = "fp16".parse::<Precision>().unwrap_err().to_string();
        assert_eq!(error, "expected `f32`, `bf16` or `f16`, found `fp16`");
    }
}
