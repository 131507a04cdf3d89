//! The choice where the clients' examples are kept: in the memory of the device that trains on them, or in host memory.

use std::fmt;
use std::str::FromStr;

use burn_dispatch::DispatchDevice;
use fedround_exec::device::gpu_info;

use crate::byte_size::ByteSize;

/// How much of a GPU's memory the clients' examples may take. If they fit, they are copied to the GPU once, and
/// batches are gathered there. Otherwise each batch is copied from host memory. Results are the same bit for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceData {
    /// A quarter of the memory that the GPU's driver reports. If it reports none, as much as one tensor may take.
    #[default]
    Auto,
    /// Batches are copied from host memory.
    Off,
    /// Up to this many bytes.
    UpTo(ByteSize),
}

/// A text does not name a [`DeviceData`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `auto`, `off` or an amount of memory such as 512MiB, found `{0}`")]
pub struct DeviceDataError(String);

impl FromStr for DeviceData {
    type Err = DeviceDataError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            size => match size.parse() {
                Ok(size) => Ok(Self::UpTo(size)),
                Err(_) => Err(DeviceDataError(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for DeviceData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::UpTo(size) => size.fmt(f),
        }
    }
}

impl DeviceData {
    /// The bytes that all examples may take on a device, and those that one tensor may take. Both are 0 for the CPU,
    /// which reads the examples in host memory anyway.
    pub(crate) fn budget(self, device: &DispatchDevice) -> (u64, u64) {
        let Some(gpu) = gpu_info(device) else {
            return (0, 0);
        };
        let all = match self {
            Self::Auto => gpu.memory.map_or(gpu.allocation, |memory| memory / 4),
            Self::Off => 0,
            Self::UpTo(ByteSize(bytes)) => bytes as u64,
        };
        (all, gpu.allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["auto", "off", "512MiB", "3GB", "0"] {
            assert_eq!(text.parse::<DeviceData>().unwrap().to_string(), text);
        }
        let error = "half".parse::<DeviceData>().unwrap_err().to_string();
        assert!(
            error.starts_with("expected `auto`, `off` or an amount"),
            "{error}"
        );
    }

    #[test]
    fn the_cpu_keeps_nothing_twice() {
        let cpu = DispatchDevice::Flex(Default::default());
        assert_eq!(DeviceData::Auto.budget(&cpu), (0, 0));
    }
}
