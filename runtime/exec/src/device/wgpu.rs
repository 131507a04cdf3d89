//! Lists and opens the adapters (GPUs and software renderers) that wgpu offers.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ::wgpu::{Adapter, AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor};
use burn_dispatch::DispatchDevice;
use burn_dispatch::devices::{WgpuDevice, WgpuDeviceKind};

use super::Device;
use super::availability::Available;

/// All adapters, discrete GPUs first and software adapters last.
pub(super) fn list() -> Vec<Available> {
    let found = |(number, (_, info)): (usize, (WgpuDevice, AdapterInfo))| Available {
        device: Device::Wgpu(number),
        name: [info.name, info.driver_info].join(", "),
        software: info.device_type == DeviceType::Cpu,
    };
    adapters().into_iter().enumerate().map(found).collect()
}

/// Opens the adapter with this number in [`list`].
pub(super) fn open(number: usize) -> Option<DispatchDevice> {
    let (device, _) = adapters().into_iter().nth(number)?;
    Some(DispatchDevice::from(device))
}

/// The driver's name of an adapter.
pub(super) fn name(device: &WgpuDevice) -> Option<String> {
    let adapter = adapters().into_iter().find(|(known, _)| known == device);
    adapter.map(|(_, info)| [info.name, info.driver_info].join(", "))
}

/// The adapters in fedround's order, as burn's devices. burn numbers the adapters of each type (discrete,
/// integrated, virtual, software) separately.
fn adapters() -> Vec<(WgpuDevice, AdapterInfo)> {
    let backend = if cfg!(target_os = "macos") {
        Backends::METAL
    } else {
        Backends::VULKAN
    };
    let instance = Instance::new(InstanceDescriptor {
        backends: backend,
        ..InstanceDescriptor::new_without_display_handle()
    });
    let infos: Vec<AdapterInfo> = enumerate(&instance, backend)
        .iter()
        .map(Adapter::get_info)
        .collect();
    let of = |kind: DeviceType| {
        infos
            .iter()
            .filter(move |info| info.device_type == kind)
            .cloned()
    };
    let numbered = |kind, device: fn(usize) -> WgpuDeviceKind| {
        of(kind)
            .enumerate()
            .map(move |(i, info)| (device(i).into(), info))
    };
    let gpus = numbered(DeviceType::DiscreteGpu, WgpuDeviceKind::DiscreteGpu)
        .chain(numbered(
            DeviceType::IntegratedGpu,
            WgpuDeviceKind::IntegratedGpu,
        ))
        .chain(numbered(DeviceType::VirtualGpu, WgpuDeviceKind::VirtualGpu));
    // burn can open only the first software adapter.
    let software = of(DeviceType::Cpu)
        .take(1)
        .map(|info| (WgpuDeviceKind::Cpu.into(), info));
    gpus.chain(software).collect()
}

/// wgpu's adapters. The future is ready at the first poll; only in a browser is it not.
fn enumerate(instance: &Instance, backend: Backends) -> Vec<Adapter> {
    let mut list = pin!(instance.enumerate_adapters(backend));
    match list.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(adapters) => adapters,
        Poll::Pending => vec![],
    }
}
