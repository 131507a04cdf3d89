//! Devices whose libraries panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_dispatch::DispatchDevice;

use super::is_cpu;
use super::quiet::busy;
use crate::error::RunError;

/// Runs work on devices. burn and cubecl panic where a driver or the compiler of its kernels fails in
/// a place that has no error to give; that is an error here. On the CPU a panic is our own, and stays
/// one.
///
/// # Errors
///
/// Those of the work, and what a GPU's libraries panic with.
pub(crate) fn guarded<'a, T>(
    devices: impl IntoIterator<Item = &'a DispatchDevice>,
    work: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    if devices.into_iter().all(is_cpu) {
        return work();
    }
    let work = || busy(work);
    // Callers take back what a failed round has done, whichever way it failed.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(RunError::said(&words(panic.as_ref()))))
}

/// What a panic says.
pub(crate) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it said nothing")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails() -> Result<(), RunError> {
        panic!("the driver is gone\n[Source]\nvoid kernel() {{}}")
    }

    #[test]
    fn a_panic_on_the_cpu_stays_one() {
        let cpu = DispatchDevice::Flex(Default::default());
        let ran = catch_unwind(AssertUnwindSafe(|| guarded([&cpu], fails)));
        assert!(words(ran.unwrap_err().as_ref()).starts_with("the driver is gone"));
        assert!(guarded([&cpu], || Ok(())).is_ok());
    }

    #[cfg(feature = "wgpu")]
    #[test]
    fn a_panic_of_a_gpu_is_an_error() {
        let devices = [
            DispatchDevice::Flex(Default::default()),
            DispatchDevice::from(burn_dispatch::devices::WgpuDevice::default()),
        ];
        let error = guarded(&devices, fails).unwrap_err();
        assert_eq!(
            error.to_string(),
            RunError::said("the driver is gone").to_string()
        );
        assert_eq!(guarded(&devices, || Ok(7)).unwrap(), 7);
    }
}
