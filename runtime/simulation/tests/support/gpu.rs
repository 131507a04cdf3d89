//! The GPU that tests run on.

use fedround_exec::Device;

/// The GPU that a build has; of a build with both kinds the one that `FEDROUND_TEST_GPU` names, `cuda` or
/// `wgpu`.
#[allow(clippy::panic, reason = "a test stops at its first error")]
pub fn gpu() -> Device {
    let both = cfg!(all(feature = "wgpu", feature = "cuda"));
    let cuda = match std::env::var("FEDROUND_TEST_GPU").as_deref() {
        Ok("wgpu") if both => false,
        Ok("cuda") if both => true,
        Ok(other) if both => panic!("FEDROUND_TEST_GPU is {other}, not `cuda` or `wgpu`"),
        _ => cfg!(feature = "cuda"),
    };
    if cuda {
        Device::Cuda(0)
    } else {
        Device::Wgpu(0)
    }
}
