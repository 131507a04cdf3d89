//! Lists the devices of this machine, and opens them.

use burn_dispatch::DispatchDevice;

use super::Device;
use super::availability::{Available, DeviceReport, Unavailable};
use super::error::DeviceError;
use super::libraries::{Nvidia, Vulkan, nvidia_gpus};

/// Lists the devices of every kind, without opening them.
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

/// Opens a device if it exists.
pub(super) fn open(device: Device) -> Result<DispatchDevice, DeviceError> {
    let found = match device {
        Device::Cpu => return Ok(DispatchDevice::Flex(Default::default())),
        Device::Wgpu(_) => wgpu(),
        Device::Cuda(_) => cuda(),
    };
    let found = found.map_err(|problems| DeviceError::Missing { device, problems })?;
    #[cfg(feature = "kernel-cache")]
    super::kernel_cache::enable_kernel_cache();
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

/// The NVIDIA GPUs, or everything that is missing to use one.
pub(super) fn cuda() -> Result<Vec<Available>, Vec<Unavailable>> {
    let nvidia = Nvidia::detect();
    let names = if nvidia.can_list_gpus() {
        cuda_names()
    } else {
        vec![]
    };
    // `nvidia-smi` need not be installed. It is asked for the reason only if CUDA lists no GPU.
    let gpus = match names.len() {
        0 => nvidia_gpus(),
        count => Ok(count),
    };
    require(cfg!(feature = "cuda"), "cuda", nvidia.problem(gpus))?;
    let found = |(number, name): (usize, String)| Available {
        device: Device::Cuda(number),
        name,
        software: false,
    };
    let gpus: Vec<Available> = names.into_iter().enumerate().map(found).collect();
    if gpus.is_empty() {
        let why = "CUDA sees none of those that the driver lists".to_owned();
        return Err(vec![Unavailable::NoGpu { why }]);
    }
    Ok(gpus)
}

/// The names of the GPUs that CUDA lists, in CUDA's order. `nvidia-smi` does not know this list:
/// `CUDA_VISIBLE_DEVICES` may leave GPUs out and renumber the rest, and without it the fastest GPU comes first.
#[cfg(feature = "cuda")]
fn cuda_names() -> Vec<String> {
    use cudarc::driver::result::{device, init};
    let count = init().and_then(|()| device::get_count()).unwrap_or(0);
    let name = |number| {
        let name = device::get(number).and_then(device::get_name);
        name.unwrap_or_else(|_| format!("GPU {number}"))
    };
    (0..count).map(name).collect()
}

#[cfg(not(feature = "cuda"))]
fn cuda_names() -> Vec<String> {
    vec![]
}

/// The adapters that wgpu offers, or everything that is missing to use one. The machine's files are looked at
/// only if there is no adapter, because a driver may be installed in another place.
pub(super) fn wgpu() -> Result<Vec<Available>, Vec<Unavailable>> {
    let adapters = adapters();
    if adapters.is_empty() {
        require(cfg!(feature = "wgpu"), "wgpu", Vulkan::detect().problem())?;
        return Err(vec![Unavailable::NoAdapter]);
    }
    Ok(adapters)
}

#[cfg(feature = "wgpu")]
fn adapters() -> Vec<Available> {
    super::wgpu::list()
}

#[cfg(not(feature = "wgpu"))]
fn adapters() -> Vec<Available> {
    vec![]
}

/// Reports a missing feature of the build together with a missing library of the machine, so that the user can
/// fix both before trying again.
fn require(
    is_built: bool,
    feature: &'static str,
    machine_problem: Option<Unavailable>,
) -> Result<(), Vec<Unavailable>> {
    let build_problem = (!is_built).then_some(Unavailable::NotBuilt { feature });
    let problems = build_problem.into_iter().chain(machine_problem);
    let problems: Vec<Unavailable> = problems.collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}
