//! Reads the memory and the clock of a GPU from cubecl.

use burn_dispatch::DispatchDevice;

/// Facts about an open GPU.
pub struct GpuInfo {
    /// The bytes of memory that this process has reserved, whether or not tensors use them.
    pub reserved: u64,
    /// The bytes of memory of the GPU; `None` if the driver does not tell.
    pub memory: Option<u64>,
    /// The bytes of the largest tensor that the GPU can allocate.
    pub allocation: u64,
    /// Whether the GPU times kernels with its own clock.
    pub clock: bool,
}

/// Asks the driver of an open GPU. Gives `None` for the CPU.
pub fn gpu_info(device: &DispatchDevice) -> Option<GpuInfo> {
    match device {
        #[cfg(any(feature = "wgpu", feature = "cuda"))]
        DispatchDevice::Cube(gpu) => {
            use cubecl::MemoryScope;
            use cubecl::profile::TimingMethod;

            let client = gpu.client();
            let memory = client.memory_report(MemoryScope::Device).usage();
            Some(GpuInfo {
                reserved: memory.bytes_reserved,
                memory: client.properties().memory.max_memory(),
                allocation: client.properties().memory.max_page_size,
                clock: client.properties().timing_method == TimingMethod::Device,
            })
        }
        _ => None,
    }
}
