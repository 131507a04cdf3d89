//! Where programs run.

#[cfg(feature = "wgpu")]
mod adapters;
mod error;
mod gpu;
mod guard;
mod kernel_log;
mod list;
mod probe;
pub(crate) mod quiet;
mod system;

use std::fmt;
use std::str::FromStr;

use burn_backend::TensorData;
use burn_backend::ops::FloatTensorOps;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
use burn_dispatch::devices::CubeDevice;
use burn_dispatch::{Dispatch, DispatchDevice};

pub use error::DeviceError;
pub(crate) use gpu::ask;
pub(crate) use guard::{guarded, words};
pub use kernel_log::{TIMED, kernel_time};
pub use list::Devices;
pub use probe::{Available, DeviceReport, Unavailable, devices};

use crate::ops;

/// A device. `wgpu` and `cuda` are features: a default build knows the CPU alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// Flex: kernels for host memory, one client on each thread.
    #[default]
    Cpu,
    /// A GPU through wgpu (Vulkan, Metal), with kernel fusion, by its number among the adapters:
    /// discrete ones first, software ones (lavapipe) last.
    Wgpu(usize),
    /// An NVIDIA GPU by its number, with kernel fusion.
    Cuda(usize),
}

impl Device {
    /// The kind's name on the command line; a GPU's is its feature's too.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wgpu(_) => "wgpu",
            Self::Cuda(_) => "cuda",
        }
    }

    /// The device of a text such as `cpu` (or `flex`), `wgpu`, `cuda:1` or `auto`, which is
    /// [`best`](Self::best).
    ///
    /// # Errors
    ///
    /// No such name.
    pub fn choose(text: &str) -> Result<Self, DeviceError> {
        match text {
            "auto" => Ok(Self::best()),
            text => text.parse(),
        }
    }

    /// The first NVIDIA GPU that this build can use, or else the first other GPU, or else the CPU.
    /// A software adapter is none: the CPU's own kernels are faster.
    pub fn best() -> Self {
        let kinds = [probe::cuda, probe::wgpu].into_iter();
        let mut found = kinds.flat_map(|kind| kind().unwrap_or_default());
        let gpu = found.find(|found| !found.software);
        gpu.map(|found| found.device).unwrap_or_default()
    }

    /// Opens the device, after a look at whether it is there: burn panics in a thread of its own
    /// where it is not.
    ///
    /// # Errors
    ///
    /// The build lacks the feature, or the machine the device.
    pub fn open(self) -> Result<DispatchDevice, DeviceError> {
        probe::open(self)
    }

    /// Whether it times kernels by a clock of its own, and not by the host's: some GPUs do.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn times_kernels(self) -> Result<bool, DeviceError> {
        Ok(ask(&self.open()?).is_some_and(|gpu| gpu.clock))
    }

    /// Opens the device and multiplies two small matrices on it.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or fails, or does not give their product.
    pub fn check(self) -> Result<(), DeviceError> {
        const N: usize = 8;
        let device = self.open()?;
        let values = |step: usize| (0..N * N).map(|i| (i * step % 7) as f32).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = (values(3), values(5));
        let product = |i: usize| (0..N).map(|k| a[i / N * N + k] * b[k * N + i % N]).sum();
        let expected: Vec<f32> = (0..N * N).map(product).collect();
        let tensor = |values: &[f32]| {
            Dispatch::float_from_data(TensorData::new(values.to_vec(), [N, N]), &device)
        };
        let found = guarded([&device], || {
            ops::read(Dispatch::float_matmul(tensor(&a), tensor(&b)))
        });
        match found {
            Ok(found) if found == expected => Ok(()),
            Ok(_) => Err(DeviceError::Wrong { device: self }),
            Err(error) => Err(DeviceError::Fails {
                device: self,
                why: error.to_string(),
            }),
        }
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

/// What a GPU's driver calls it.
pub(crate) fn name_of(device: &DispatchDevice) -> Option<String> {
    match device {
        #[cfg(feature = "wgpu")]
        DispatchDevice::Cube(CubeDevice::Wgpu(device)) => adapters::name(device),
        #[cfg(feature = "cuda")]
        DispatchDevice::Cube(CubeDevice::Cuda(device)) => {
            let found = probe::cuda().unwrap_or_default();
            found.get(device.index).map(|found| found.name.clone())
        }
        _ => None,
    }
}

/// Whether tensors live in host memory, where our own kernels run.
pub(crate) fn is_cpu(device: &DispatchDevice) -> bool {
    matches!(device, DispatchDevice::Flex(_))
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

    #[test]
    fn the_cpu_computes() {
        Device::Cpu.check().unwrap();
        Device::best().check().unwrap();
    }

    #[cfg(not(feature = "wgpu"))]
    #[test]
    fn a_missing_feature_is_named() {
        let error = Device::Wgpu(0).open().unwrap_err().to_string();
        assert!(error.contains("`--features wgpu`"), "{error}");
    }
}
