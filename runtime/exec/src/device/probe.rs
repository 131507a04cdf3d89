//! Looks for the devices of this machine, and opens them.

use burn_dispatch::DispatchDevice;

use super::Device;
use super::availability::{Available, DeviceReport, Unavailable};
use super::error::DeviceError;
use super::libraries::{Nvidia, Vulkan, nvidia_gpus};

/// Looks for devices of every kind. Nothing is opened.
pub fn devices() -> [DeviceReport; 3] {
    let cpu = Available {
        device: Device::Cpu,
        name: format!(
            "{} threads",
            std::thread::available_parallelism().map_or(1, usize::from)
        ),
        software: false,
    };
    let kinds = [("cpu", Ok(vec![cpu])), ("wgpu", wgpu()), ("cuda", cuda())];
    kinds.map(|(kind, found)| {
        let (found, problems) = match found {
            Ok(found) => (found, vec![]),
            Err(problems) => (vec![], problems),
        };
        DeviceReport {
            kind,
            found,
            problems,
        }
    })
}

/// Opens a device that is there.
pub(super) fn open(device: Device) -> Result<DispatchDevice, DeviceError> {
    let found = match device {
        Device::Cpu => return Ok(DispatchDevice::Flex(Default::default())),
        Device::Wgpu(_) => wgpu(),
        Device::Cuda(_) => cuda(),
    };
    let found = found.map_err(|problems| DeviceError::Missing { device, problems })?;
    #[cfg(feature = "kernel-cache")]
    super::kernel_cache::keep_kernels();
    let opened = match device {
        #[cfg(feature = "wgpu")]
        Device::Wgpu(number) => super::wgpu::open(number),
        #[cfg(feature = "cuda")]
        Device::Cuda(number) if number < found.len() => {
            let device = burn_dispatch::devices::CudaDevice::new(number);
            Some(DispatchDevice::from(device))
        }
        _ => None,
    };
    let found = found.len();
    opened.ok_or(DeviceError::Number { device, found })
}

/// The NVIDIA GPUs, or all that is missing.
pub(super) fn cuda() -> Result<Vec<Available>, Vec<Unavailable>> {
    let nvidia = Nvidia::read();
    let names = if nvidia.answers() {
        cuda_names()
    } else {
        vec![]
    };
    // `nvidia-smi` need not be installed; it says why where CUDA sees none.
    let gpus = match names.len() {
        0 => nvidia_gpus(),
        seen => Ok(seen),
    };
    built(cfg!(feature = "cuda"), "cuda", nvidia.problem(gpus))?;
    let found = |(number, name): (usize, String)| Available {
        device: Device::Cuda(number),
        name,
        software: false,
    };
    let visible: Vec<Available> = names.into_iter().enumerate().map(found).collect();
    if visible.is_empty() {
        let why = "CUDA sees none of those that the driver lists".to_owned();
        return Err(vec![Unavailable::NoGpu { why }]);
    }
    Ok(visible)
}

/// The names of those that CUDA sees, in its order: CUDA_VISIBLE_DEVICES may leave some out and
/// number the rest anew, and without it the fastest is the first. `nvidia-smi` knows neither.
#[cfg(feature = "cuda")]
fn cuda_names() -> Vec<String> {
    use cudarc::driver::result::{device, init};
    let seen = init().and_then(|()| device::get_count()).unwrap_or(0);
    let name = |number| {
        let name = device::get(number).and_then(device::get_name);
        name.unwrap_or_else(|_| format!("GPU {number}"))
    };
    (0..seen).map(name).collect()
}

#[cfg(not(feature = "cuda"))]
fn cuda_names() -> Vec<String> {
    vec![]
}

/// The adapters, or all that is missing. Where there are none, the machine's files say why: drivers
/// may be in other places than those.
pub(super) fn wgpu() -> Result<Vec<Available>, Vec<Unavailable>> {
    let adapters = adapters();
    if adapters.is_empty() {
        built(cfg!(feature = "wgpu"), "wgpu", Vulkan::read().problem())?;
        return Err(vec![Unavailable::NoAdapter]);
    }
    Ok(adapters)
}

#[cfg(feature = "wgpu")]
fn adapters() -> Vec<Available> {
    super::wgpu::found()
}

#[cfg(not(feature = "wgpu"))]
fn adapters() -> Vec<Available> {
    vec![]
}

/// Reports missing build features and missing libraries together, so that a rebuild fixes both.
fn built(
    is: bool,
    feature: &'static str,
    machine: Option<Unavailable>,
) -> Result<(), Vec<Unavailable>> {
    let build = (!is).then_some(Unavailable::NotBuilt { feature });
    let problems: Vec<Unavailable> = build.into_iter().chain(machine).collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}
