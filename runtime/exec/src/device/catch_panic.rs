//! Turns panics of a GPU's libraries into errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_dispatch::DispatchDevice;
use fedround_trace::panic_message;

use super::capture_lock::with_gpu_access;
use super::exec_error::ExecError;
use super::is_cpu;

/// Runs `work`, which may use `devices`, and turns a panic into an error if one of them is a GPU.
///
/// burn and cubecl panic if a driver call or the compilation of a kernel fails in a function that cannot
/// return an error. On the CPU, a panic is a bug of fedround and is not caught.
///
/// # Errors
///
/// The errors of `work`, or the message of a panic.
pub fn catch_panic<'a, T, E: From<ExecError>>(
    devices: impl IntoIterator<Item = &'a DispatchDevice>,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if devices.into_iter().all(is_cpu) {
        return work();
    }
    let work = || with_gpu_access(work);
    // Unwind safety: after an error, callers undo the changes of the failed round, so it does not matter that a
    // panic may leave them half done.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(ExecError::from_message(&panic_message(panic.as_ref())).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails() -> Result<(), ExecError> {
        panic!("the driver is gone\n[Source]\nvoid kernel() {{}}")
    }

    #[test]
    fn a_panic_on_the_cpu_stays_one() {
        let cpu = DispatchDevice::Flex(Default::default());
        let ran = catch_unwind(AssertUnwindSafe(|| catch_panic([&cpu], fails)));
        assert!(panic_message(ran.unwrap_err().as_ref()).starts_with("the driver is gone"));
        assert!(catch_panic([&cpu], || Ok::<_, ExecError>(())).is_ok());
    }

    #[cfg(feature = "wgpu")]
    #[test]
    fn a_panic_of_a_gpu_is_an_error() {
        let devices = [
            DispatchDevice::Flex(Default::default()),
            DispatchDevice::from(burn_dispatch::devices::WgpuDevice::default()),
        ];
        let error = catch_panic(&devices, fails).unwrap_err();
        assert_eq!(error.to_string(), "the device failed: the driver is gone");
        assert_eq!(catch_panic(&devices, || Ok::<_, ExecError>(7)).unwrap(), 7);
    }
}
