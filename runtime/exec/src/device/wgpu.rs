//! The adapters that wgpu offers.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ::wgpu::{Adapter, AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor};
use burn_dispatch::DispatchDevice;
use burn_dispatch::devices::{WgpuDevice, WgpuDeviceKind};

use super::Device;
use super::availability::Available;

/// All of them, discrete GPUs first and software last.
pub(super) fn found() -> Vec<Available> {
    let found = |(number, (_, info)): (usize, (WgpuDevice, AdapterInfo))| Available {
        device: Device::Wgpu(number),
        name: [info.name, info.driver_info].join(", "),
        software: info.device_type == DeviceType::Cpu,
    };
    adapters().into_iter().enumerate().map(found).collect()
}

/// One by its number among them.
pub(super) fn open(number: usize) -> Option<DispatchDevice> {
    let (device, _) = adapters().into_iter().nth(number)?;
    Some(DispatchDevice::from(device))
}

/// What the driver calls one.
pub(super) fn name(of: &WgpuDevice) -> Option<String> {
    let known = adapters().into_iter().find(|(device, _)| device == of);
    known.map(|(_, info)| [info.name, info.driver_info].join(", "))
}

/// burn counts adapters of each type apart.
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
    let infos: Vec<AdapterInfo> = listed(&instance, backend)
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
    // Of software adapters burn opens the first.
    let software = of(DeviceType::Cpu)
        .take(1)
        .map(|info| (WgpuDeviceKind::Cpu.into(), info));
    gpus.chain(software).collect()
}

/// Outside of browsers the list is ready when it is asked for.
fn listed(instance: &Instance, backend: Backends) -> Vec<Adapter> {
    let mut list = pin!(instance.enumerate_adapters(backend));
    match list.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(adapters) => adapters,
        Poll::Pending => vec![],
    }
}
