//! Where programs run.

use std::fmt;
use std::str::FromStr;

use burn_dispatch::DispatchDevice;

/// A kind of device. `wgpu` and `cuda` are features: a default build knows the CPU alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// Flex: kernels for host memory, one client on each thread.
    #[default]
    Cpu,
    /// A GPU through wgpu (Vulkan, Metal, DirectX), with kernel fusion.
    Wgpu,
    /// An NVIDIA GPU, with kernel fusion.
    Cuda,
}

impl Device {
    /// All, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Wgpu, Self::Cuda];

    /// Name on the command line; a GPU's is its feature's too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wgpu => "wgpu",
            Self::Cuda => "cuda",
        }
    }

    /// The first device of this kind.
    ///
    /// # Errors
    ///
    /// The build lacks the feature, or the machine the device.
    pub fn open(self) -> Result<DispatchDevice, DeviceError> {
        match self {
            Self::Cpu => Ok(DispatchDevice::Flex(Default::default())),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Ok(wgpu()),
            #[cfg(feature = "cuda")]
            Self::Cuda => cuda(),
            #[cfg(not(all(feature = "wgpu", feature = "cuda")))]
            other => Err(DeviceError::NotBuilt { device: other }),
        }
    }
}

/// A device cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DeviceError {
    /// The feature is off.
    #[error(
        "this build has no `{}` device; build with `--features {}`",
        device.name(),
        device.name()
    )]
    NotBuilt {
        /// The device.
        device: Device,
    },
    /// No driver, or no GPU.
    #[error("no NVIDIA GPU can be used: {why}; use `--device cpu`, or install NVIDIA's driver")]
    NoGpu {
        /// What was missing.
        why: String,
    },
    /// No such name.
    #[error("expected `cpu`, `wgpu` or `cuda`, found `{found}`")]
    Unknown {
        /// The text.
        found: String,
    },
}

impl FromStr for Device {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|d| d.name() == text);
        found.ok_or_else(|| DeviceError::Unknown {
            found: text.to_owned(),
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether tensors live in host memory, where our own kernels run.
pub(crate) fn is_cpu(device: &DispatchDevice) -> bool {
    matches!(device, DispatchDevice::Flex(_))
}

/// The default adapter: a discrete GPU where there is one, a software one (lavapipe) otherwise.
#[cfg(feature = "wgpu")]
fn wgpu() -> DispatchDevice {
    DispatchDevice::Wgpu(Default::default())
}

/// Without a driver the first tensor operation would panic in a thread of burn's, so the driver is
/// asked first.
#[cfg(feature = "cuda")]
fn cuda() -> Result<DispatchDevice, DeviceError> {
    let probe = std::process::Command::new("nvidia-smi")
        .arg("--list-gpus")
        .output();
    let gpus = match probe {
        Ok(output) if output.status.success() => output.stdout.split(|&b| b == b'\n').count() - 1,
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(DeviceError::NoGpu { why });
        }
        Err(error) => {
            let why = format!("`nvidia-smi` does not run ({error})");
            return Err(DeviceError::NoGpu { why });
        }
    };
    if gpus == 0 {
        let why = "the driver lists no GPU".to_owned();
        return Err(DeviceError::NoGpu { why });
    }
    Ok(DispatchDevice::Cuda(Default::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for device in Device::ALL {
            assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
        }
        let error = "tpu".parse::<Device>().unwrap_err().to_string();
        assert_eq!(error, "expected `cpu`, `wgpu` or `cuda`, found `tpu`");
    }

    #[cfg(not(feature = "wgpu"))]
    #[test]
    fn a_missing_feature_is_named() {
        let error = Device::Wgpu.open().unwrap_err().to_string();
        assert!(error.contains("`--features wgpu`"), "{error}");
    }
}
