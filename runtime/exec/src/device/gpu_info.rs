//! What a GPU says of itself.

use burn_dispatch::DispatchDevice;

/// What cubecl knows of a GPU.
pub(crate) struct Gpu {
    /// Bytes of memory that it holds for this process, used or not.
    pub reserved: u64,
    /// Whether it times kernels by a clock of its own.
    pub clock: bool,
}

/// `None` for the CPU, and where the GPU has failed.
pub(crate) fn ask(device: &DispatchDevice) -> Option<Gpu> {
    match device {
        #[cfg(feature = "wgpu")]
        DispatchDevice::Wgpu(gpu) => runtime::ask::<cubecl::wgpu::WgpuRuntime>(gpu),
        #[cfg(feature = "cuda")]
        DispatchDevice::Cuda(gpu) => runtime::ask::<cubecl::cuda::CudaRuntime>(gpu),
        _ => None,
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod runtime {
    use cubecl::Runtime;
    use cubecl::profile::TimingMethod;

    use super::Gpu;

    pub fn ask<R: Runtime>(device: &R::Device) -> Option<Gpu> {
        let client = R::client(device);
        Some(Gpu {
            reserved: client.memory_usage().ok()?.bytes_reserved,
            clock: client.properties().timing_method == TimingMethod::Device,
        })
    }
}
