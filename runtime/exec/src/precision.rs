//! In which float type products are computed.

use std::fmt;
use std::str::FromStr;

use burn_backend::{Backend, DTypeUsage};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::DType;

use crate::convolutions::ConvPolicy;
use crate::device::{Device, DeviceError, is_cpu};

/// The float type of the operands of matrix products and convolutions, forward and backward.
/// Parameters, updates, sums, losses, statistics and aggregation are `f32` in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits with the range of `f32`, of which 8 are significant.
    BF16,
    /// 16 bits with a range from 6e-8 to 65504, of which 11 are significant. Losses are multiplied
    /// by [`LOSS_SCALE`](Self::LOSS_SCALE) before gradients are taken, and gradients divided by it.
    F16,
}

/// A text is no choice of [`Precision`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `f32`, `bf16` or `f16`, found `{found}`")]
pub struct PrecisionError {
    found: String,
}

impl Precision {
    /// All, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::F32, Self::BF16, Self::F16];

    /// What keeps small gradients within the range of `f16`. A power of two: scaling is exact.
    pub const LOSS_SCALE: f64 = 1024.0;

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.short().map_or("f32", DType::name)
    }

    /// The type that operands are rounded to.
    fn short(self) -> Option<DType> {
        match self {
            Self::F32 => None,
            Self::BF16 => Some(DType::BF16),
            Self::F16 => Some(DType::F16),
        }
    }

    /// The pass that rounds them.
    pub(crate) fn pass(self) -> Option<&'static str> {
        match self {
            Self::F32 => None,
            Self::BF16 => Some("mixed-bf16"),
            Self::F16 => Some("mixed-f16"),
        }
    }

    /// What losses are multiplied by before gradients are taken.
    pub(crate) fn loss_scale(self) -> Option<f64> {
        (self == Self::F16).then_some(Self::LOSS_SCALE)
    }

    /// What a device lacks for it. The CPU lacks nothing, since it rounds `f32`.
    fn lacking(self, device: &DispatchDevice) -> Vec<&'static str> {
        let dtype = match self {
            _ if is_cpu(device) => return vec![],
            Self::F32 => return vec![],
            Self::BF16 => burn::tensor::DType::BF16,
            Self::F16 => burn::tensor::DType::F16,
        };
        if Dispatch::supports_dtype(device, dtype) {
            return vec![];
        }
        let usage = Dispatch::dtype_usage(device, dtype);
        let parts = [
            (DTypeUsage::Storage, "storage"),
            (DTypeUsage::Arithmetic, "arithmetic"),
        ];
        let missing = parts.into_iter().filter(|(part, _)| !usage.contains(*part));
        let missing: Vec<&str> = missing.map(|(_, name)| name).collect();
        match missing[..] {
            [] => vec!["dot products"],
            _ => missing,
        }
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

/// What a program is compiled for: a device, by itself with `f32`.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Where it runs.
    pub device: Device,
    /// The type of products' operands.
    pub precision: Precision,
    /// The form of convolutions.
    pub convolutions: ConvPolicy,
}

impl From<Device> for Target {
    fn from(device: Device) -> Self {
        Self {
            device,
            ..Self::default()
        }
    }
}

impl Device {
    /// The device with products in another precision.
    pub fn with_precision(self, precision: Precision) -> Target {
        Target {
            precision,
            ..self.into()
        }
    }
}

impl Target {
    /// The same with convolutions in another form.
    #[must_use]
    pub fn with_convolutions(mut self, convolutions: ConvPolicy) -> Self {
        self.convolutions = convolutions;
        self
    }

    /// Opens the device.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or lacks the precision.
    pub fn open(&self) -> Result<DispatchDevice, DeviceError> {
        let opened = self.device.open()?;
        let lacking = self.precision.lacking(&opened);
        if lacking.is_empty() {
            return Ok(opened);
        }
        Err(DeviceError::Precision {
            device: self.device,
            precision: self.precision,
            lacking: lacking.join(" and "),
        })
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

    #[test]
    fn the_cpu_has_every_precision() {
        for precision in Precision::ALL {
            Device::Cpu.with_precision(precision).open().unwrap();
        }
    }
}
