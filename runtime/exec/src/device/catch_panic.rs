//! Turns panics of a GPU's libraries into errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_dispatch::DispatchDevice;
use fedround_trace::panic_message;

use super::capture_lock::busy;
use super::exec_error::ExecError;
use super::is_cpu;

/// Runs `work`, which may use `devices`. burn and cubecl panic where a driver call or the compilation
/// of a kernel fails in a place that cannot return an error; on a GPU such a panic becomes an error
/// here. On the CPU a panic is a bug of fedround's own and is passed on.
///
/// # Errors
///
/// Those of `work`, and the message of a panic.
pub fn catch_panic<'a, T, E: From<ExecError>>(
    devices: impl IntoIterator<Item = &'a DispatchDevice>,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if devices.into_iter().all(is_cpu) {
        return work();
    }
    let work = || busy(work);
    // Callers undo what a failed round has done, whether it returned an error or panicked.
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
