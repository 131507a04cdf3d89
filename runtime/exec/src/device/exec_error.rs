//! Errors of running plans on a device.

use burn_backend::ExecutionError;
use fedround_kernels::fused::FusedError;

/// A plan could not be run on a device, or its results could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The device has no memory left.
    #[error(
        "the device is out of memory: {0}; train smaller batches or a smaller model, or on the CPU"
    )]
    OutOfMemory(String),
    /// The device failed: a kernel could not run, or its results could not be read.
    #[error("the device failed: {0}")]
    Device(String),
    /// A step could not be captured, or its replay gave other values than a plain run.
    #[error("a step could not be recorded and replayed: {0}")]
    NotReplayed(String),
    /// A plan read a slot that holds nothing, which is a bug in fedround.
    #[error("internal error: `tensor.{op}` read an empty slot; please report this program")]
    EmptySlot {
        /// The operation that read it.
        op: &'static str,
    },
    /// A fused kernel was given operands that it cannot read, which is a bug in fedround.
    #[error("internal error: a fused kernel on the CPU: {0}; please report this program")]
    Fused(#[from] FusedError),
}

/// Parts of cubecl's messages when an allocation fails. burn passes on the message alone, so the error is
/// recognised by its text. Most allocations fail on a thread of the device, which reports to nobody; the
/// first use of the memory then says that it was never initialised.
const OUT_OF_MEMORY: [&str; 5] = [
    "out of device memory",
    "out-of-memory",
    "can't allocate buffer",
    "memory pool capacity exceeded",
    "Memory location was never initialized",
];

impl ExecError {
    /// The error for a message of burn or a driver: out of memory, or another failure, by its text. Repeated
    /// lines are dropped, and so are the kernel's source and the backtrace that may follow.
    pub fn from_message(message: &str) -> Self {
        let mut lines: Vec<&str> = vec![];
        let ends = ["Backtrace", "0:", "[Source]"];
        let is_end = |line: &&str| ends.iter().any(|start| line.starts_with(start));
        let relevant = message.lines().map(str::trim);
        for line in relevant.take_while(|line| !is_end(line)) {
            if !["", "No backtrace available"].contains(&line) && !lines.contains(&line) {
                lines.push(line);
            }
        }
        let message = lines.join(" ");
        match OUT_OF_MEMORY.iter().any(|words| message.contains(words)) {
            true => Self::OutOfMemory(message),
            false => Self::Device(message),
        }
    }
}

impl From<ExecutionError> for ExecError {
    fn from(error: ExecutionError) -> Self {
        Self::from_message(error.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exhausted_memory_is_told_from_other_failures() {
        let of = |reason: &str| {
            let reason = reason.to_owned();
            ExecError::from(ExecutionError::WithContext { reason })
        };
        let full =
            of("read failed\n  out of device memory allocating 4096 bytes\nBacktrace\n 0: x");
        let words =
            "the device is out of memory: read failed out of device memory allocating 4096 bytes;";
        assert!(full.to_string().starts_with(words), "{full}");
        let big = of("can't allocate buffer of size: 8000000000");
        assert!(matches!(big, ExecError::OutOfMemory(_)), "{big}");
        let unset =
            of("couldn't find resource for that handle: Memory location was never initialized");
        assert!(matches!(unset, ExecError::OutOfMemory(_)), "{unset}");
        let lost = of("the device is lost");
        assert!(matches!(lost, ExecError::Device(_)), "{lost}");
    }
}
