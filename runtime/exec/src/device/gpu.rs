//! What a GPU says of itself.

use burn_dispatch::DispatchDevice;

/// What cubecl knows of a GPU.
pub(crate) struct Gpu {
    /// Bytes of memory that it holds for this process, used or not.
    pub reserved: u64,
    /// Whether it times kernels by a clock of its own.
    pub clock: bool,
}

/// `None` for the CPU.
pub(crate) fn ask(device: &DispatchDevice) -> Option<Gpu> {
    match device {
        #[cfg(any(feature = "wgpu", feature = "cuda"))]
        DispatchDevice::Cube(gpu) => {
            use cubecl::profile::TimingMethod;
            use cubecl::server::MemoryScope;

            let client = gpu.client();
            Some(Gpu {
                reserved: client
                    .memory_report(MemoryScope::Device)
                    .usage()
                    .bytes_reserved,
                clock: client.properties().timing_method == TimingMethod::Device,
            })
        }
        _ => None,
    }
}
