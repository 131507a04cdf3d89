//! The target of a compilation: a device, with a precision and a choice of convolution algorithms.

use std::time::Duration;

use burn_backend::{Backend, DTypeUsage};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::Op;
use fedround_passes::tensor::ConvAlgorithm;

use crate::autotune::ConvPolicy;
use crate::autotune::measure;
use crate::device::{Device, DeviceError, is_cpu};
use crate::precision::Precision;

/// The target for which a program is compiled. A [`Device`] converts to a target with `f32` and the default
/// options.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The device that runs the program.
    pub device: Device,
    /// The float type of the operands of products.
    pub precision: Precision,
    /// The choice of convolution algorithms.
    pub convolutions: ConvPolicy,
    /// Whether convolutions on the CPU multiply pixels with the weights directly. Otherwise, large 3x3
    /// and 5x5 convolutions of stride 1 are computed by Winograd's method, which is faster and rounds a little more.
    pub exact_convolutions: bool,
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
    /// The device with another precision of products.
    pub fn with_precision(self, precision: Precision) -> Target {
        Target {
            precision,
            ..self.into()
        }
    }
}

impl Target {
    /// Sets the choice of convolution algorithms.
    #[must_use]
    pub fn with_convolutions(mut self, convolutions: ConvPolicy) -> Self {
        self.convolutions = convolutions;
        self
    }

    /// Sets whether convolutions on the CPU are exact.
    #[must_use]
    pub fn with_exact_convolutions(mut self, exact: bool) -> Self {
        self.exact_convolutions = exact;
        self
    }

    /// Opens the device.
    ///
    /// # Errors
    ///
    /// The device cannot be opened, or lacks the precision.
    pub fn open(&self) -> Result<DispatchDevice, DeviceError> {
        let opened = self.device.open()?;
        let lacking = lacking(self.precision, &opened);
        if lacking.is_empty() {
            return Ok(opened);
        }
        Err(DeviceError::Precision {
            device: self.device,
            precision: self.precision,
            lacking: lacking.join(" and "),
        })
    }

    /// Times a convolution, or a gradient of one, whose two factors have these shapes. Gives the shortest time
    /// of five runs for each algorithm, without the algorithms that do not apply or do not fit in memory.
    ///
    /// # Errors
    ///
    /// The device cannot be opened.
    pub fn convolution_times(
        &self,
        op: &Op,
        shapes: [&[usize]; 2],
    ) -> Result<Vec<(ConvAlgorithm, Duration)>, DeviceError> {
        let device = self.open()?;
        let times = measure::times(&device, self.precision, op, shapes);
        Ok(times
            .filter_map(|(algorithm, time)| Some((algorithm, time?)))
            .collect())
    }
}

/// The capabilities that a device lacks for a precision. The CPU lacks none, because it computes with rounded
/// `f32`.
fn lacking(precision: Precision, device: &DispatchDevice) -> Vec<&'static str> {
    let dtype = match precision {
        _ if is_cpu(device) => return vec![],
        Precision::F32 => return vec![],
        Precision::BF16 => burn::tensor::DType::BF16,
        Precision::F16 => burn::tensor::DType::F16,
    };
    if Dispatch::supports_dtype(device, dtype) {
        return vec![];
    }
    let supported = Dispatch::dtype_usage(device, dtype);
    let usages = [
        (DTypeUsage::Storage, "storage"),
        (DTypeUsage::Arithmetic, "arithmetic"),
    ];
    let missing = usages
        .into_iter()
        .filter(|(usage, _)| !supported.contains(*usage));
    let missing: Vec<&str> = missing.map(|(_, name)| name).collect();
    match missing[..] {
        [] => vec!["dot products"],
        _ => missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_every_precision() {
        for precision in Precision::ALL {
            Device::Cpu.with_precision(precision).open().unwrap();
        }
    }
}
