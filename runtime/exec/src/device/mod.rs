//! Finds and opens the devices on which programs run.
//!
//! A default build has the CPU only. The features `wgpu` and `cuda` add GPUs.

mod availability;
mod capture_lock;
mod catch_panic;
mod device_list;
mod error;
mod exec_error;
mod gpu_info;
#[cfg(feature = "kernel-cache")]
mod kernel_cache;
mod kernel_times;
mod libraries;
mod probe;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::fmt;
use std::str::FromStr;

use burn_dispatch::DispatchDevice;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
use burn_dispatch::devices::CubeDevice;

pub use availability::{Available, DeviceReport, Unavailable};
pub(crate) use capture_lock::with_exclusive_gpu_access;
pub use capture_lock::{register_training_device, with_gpu_access, without_gpu_access};
pub use catch_panic::catch_panic;
pub use device_list::Devices;
pub use error::DeviceError;
pub use exec_error::ExecError;
pub use gpu_info::{GpuInfo, gpu_info};
pub use kernel_times::{KERNEL_TIMING_ENV, kernel_time};
pub use probe::devices;

/// A device by its kind and number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The CPU, through burn's backend Flex and fedround's own kernels. Each thread runs one client.
    #[default]
    Cpu,
    /// A GPU through wgpu (Vulkan, Metal), with kernel fusion. Adapters are numbered from 0: discrete
    /// GPUs first, software adapters such as lavapipe last.
    Wgpu(usize),
    /// An NVIDIA GPU by its number from 0, with kernel fusion.
    Cuda(usize),
}

impl Device {
    /// The name of the device's kind: `cpu`, `wgpu` or `cuda`. A GPU's kind is also the name of the
    /// feature that it needs.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wgpu(_) => "wgpu",
            Self::Cuda(_) => "cuda",
        }
    }

    /// Reads a device from text: `cpu` (or `flex`), `wgpu`, `cuda:1`, or `auto` for the
    /// [best](Self::best).
    ///
    /// # Errors
    ///
    /// The text names no device.
    pub fn choose(text: &str) -> Result<Self, DeviceError> {
        match text {
            "auto" => Ok(Self::best()),
            text => text.parse(),
        }
    }

    /// The first NVIDIA GPU that this build can use, else the first other GPU, else the CPU. Software
    /// adapters do not count as GPUs, because the CPU's own kernels are faster.
    pub fn best() -> Self {
        let kinds = [probe::cuda, probe::wgpu].into_iter();
        let mut found = kinds.flat_map(|kind| kind().unwrap_or_default());
        let gpu = found.find(|found| !found.software);
        gpu.map(|found| found.device).unwrap_or_default()
    }

    /// Opens the device. It is checked first that the device exists: otherwise burn would panic on a thread of
    /// its own.
    ///
    /// # Errors
    ///
    /// The build lacks the feature, or the machine lacks the device.
    pub fn open(self) -> Result<DispatchDevice, DeviceError> {
        probe::open(self)
    }

    /// Whether the device times kernels with its own clock. The host times the kernels of other devices.
    ///
    /// # Errors
    ///
    /// The device cannot be opened.
    pub fn times_kernels(self) -> Result<bool, DeviceError> {
        Ok(gpu_info(&self.open()?).is_some_and(|gpu| gpu.clock))
    }
}

impl FromStr for Device {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || DeviceError::Unknown {
            found: text.to_owned(),
        };
        let (kind, number) = text.split_once(':').unwrap_or((text, "0"));
        let number = number.parse().map_err(|_| unknown())?;
        match kind {
            "cpu" | "flex" if kind == text => Ok(Self::Cpu),
            "wgpu" => Ok(Self::Wgpu(number)),
            "cuda" => Ok(Self::Cuda(number)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::Wgpu(n) | Self::Cuda(n) if *n > 0 => write!(f, ":{n}"),
            _ => Ok(()),
        }
    }
}

/// The name that a GPU's driver gives it.
pub(crate) fn name_of(device: &DispatchDevice) -> Option<String> {
    match device {
        #[cfg(feature = "wgpu")]
        DispatchDevice::Cube(CubeDevice::Wgpu(device)) => wgpu::name(device),
        #[cfg(feature = "cuda")]
        DispatchDevice::Cube(CubeDevice::Cuda(device)) => {
            let found = probe::cuda().unwrap_or_default();
            found.get(device.index).map(|found| found.name.clone())
        }
        _ => None,
    }
}

/// Whether a device's tensors are in host memory, where fedround's own kernels run.
pub fn is_cpu(device: &DispatchDevice) -> bool {
    matches!(device, DispatchDevice::Flex(_))
}

/// Whether a device is an NVIDIA GPU, used through CUDA.
#[cfg(feature = "cuda")]
pub(crate) fn is_cuda(device: &DispatchDevice) -> bool {
    matches!(device, DispatchDevice::Cube(CubeDevice::Cuda(_)))
}

/// Whether a device is an NVIDIA GPU, used through CUDA. A build without CUDA uses none.
#[cfg(not(feature = "cuda"))]
pub(crate) fn is_cuda(_: &DispatchDevice) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for text in ["cpu", "wgpu", "wgpu:2", "cuda", "cuda:7"] {
            assert_eq!(text.parse::<Device>().unwrap().to_string(), text);
        }
        assert_eq!("flex".parse::<Device>().unwrap(), Device::Cpu);
        assert_eq!("cuda:0".parse::<Device>().unwrap(), Device::Cuda(0));
        for text in ["tpu", "cpu:1", "wgpu:", "cuda:x", "cuda:-1", ""] {
            let error = text.parse::<Device>().unwrap_err().to_string();
            let expected = "expected `auto`, `cpu`, `wgpu[:N]` or `cuda[:N]`, found";
            assert_eq!(error, format!("{expected} `{text}`"));
        }
    }

    #[cfg(not(feature = "wgpu"))]
    #[test]
    fn a_missing_feature_is_named() {
        let error = Device::Wgpu(0).open().unwrap_err().to_string();
        assert!(error.contains("`--features wgpu`"), "{error}");
    }
}
