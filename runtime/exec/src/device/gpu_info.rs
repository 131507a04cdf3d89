//! Reads the memory and the clock of a GPU from cubecl.

use burn_dispatch::DispatchDevice;

/// Facts about an open GPU.
pub struct GpuInfo {
    /// Bytes of its memory that are reserved for this process, whether or not they are in use.
    pub reserved: u64,
    /// Bytes of memory, if the driver tells.
    pub memory: Option<u64>,
    /// Bytes of the largest tensor.
    pub allocation: u64,
    /// Whether it times kernels with a clock of its own.
    pub clock: bool,
}

/// Asks a GPU. `None` for the CPU.
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
