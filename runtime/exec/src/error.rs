//! What can go wrong between a spec and its results.

use burn_backend::ExecutionError;
use fedround_data::DataError;
use fedround_dsl::StageError;
use fedround_ir::Loc;
use fedround_models::AuxiliaryError;
use fedround_passes::PassError;
use fedround_passes::lowering::LowerError;

use crate::device::DeviceError;
use crate::run::EmptySlot;

/// A program could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The spec does not stage to a valid module.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Linking or another pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// A compute segment could not be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A network beside the model cannot be had.
    #[error(transparent)]
    Auxiliary(#[from] AuxiliaryError),
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device failed before, and says so now that a convolution is timed on it.
    #[error(transparent)]
    Failed(Box<RunError>),
    /// The algorithm defines no round.
    #[error("the algorithm defines no hook `round`; implement `fn round(&self, server, w)`")]
    NoRound,
}

/// A round could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A segment met a new batch shape and could not be compiled for it.
    #[error(transparent)]
    Compile(CompileError),
    /// Examples could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A plan is malformed.
    #[error(transparent)]
    Plan(#[from] EmptySlot),
    /// An op got a value of another kind than the verifier promised.
    #[error("{loc}: internal error: `{op}` got no {expected}; please report this program")]
    Value {
        /// The op.
        op: String,
        /// What it needs.
        expected: &'static str,
        /// Its line in the spec.
        loc: Loc,
    },
    /// A cohort of clients by number, none of which there is.
    #[error(
        "{loc}: no client has such a number: there are {clients}, and at least {least} are needed"
    )]
    NoClient {
        /// The federation's clients.
        clients: usize,
        /// The fewest clients of which one has such a number.
        least: usize,
        /// The line of the spec.
        loc: Loc,
    },
    /// A cohort without clients, or with weights that sum to zero.
    #[error("{loc}: nothing to work with: {why}")]
    Empty {
        /// The reason.
        why: &'static str,
        /// The line of the spec.
        loc: Loc,
    },
    /// Features of several shapes, which have no mean.
    #[error(
        "{loc}: clients' features of shapes {expected:?} and {found:?} cannot be added; give each client as many rows, or `.gather()` them"
    )]
    Rows {
        /// The shape of the first client's.
        expected: Vec<usize>,
        /// Another one.
        found: Vec<usize>,
        /// The line of the spec.
        loc: Loc,
    },
    /// Values whose rows go together, and that have not as many.
    #[error(
        "{loc}: rows of several values go together, found {expected} of one and {found} of another"
    )]
    Together {
        /// How many the first has.
        expected: usize,
        /// How many another has.
        found: usize,
        /// The line of the spec.
        loc: Loc,
    },
    /// A state of features or labels is read that nothing has set.
    #[error(
        "{loc}: the state `{name}` is read before it is set; set it in an earlier round or phase"
    )]
    Unset {
        /// Its name.
        name: String,
        /// The line of the spec.
        loc: Loc,
    },
    /// A client has fewer examples than one batch needs.
    #[error("client {client} has no examples; every client needs at least one")]
    NoExamples {
        /// The client.
        client: usize,
    },
    /// The system gives no thread to make batches on, or to feed a device.
    #[error(
        "no thread for clients' batches or a device: {0}; train fewer clients at once (`--threads ..`)"
    )]
    Thread(std::io::Error),
    /// The spec reads a column that the clients' examples lack.
    #[error("the spec reads column `{0}` of a batch, which the data does not have")]
    Column(String),
    /// A function of the model gives another shape than decoding needs.
    #[error("the model's `{function}` gives {found:?}, expected {expected}")]
    Decodes {
        /// Its name.
        function: &'static str,
        /// What decoding needs.
        expected: String,
        /// The shape that it has.
        found: Vec<usize>,
    },
    /// A step that has to be recorded cannot be, or is not replayed rightly.
    #[error(
        "a step could not be recorded and replayed: {0}; `--graphs on` runs such steps one op at a time"
    )]
    Graph(String),
    /// Graphs are required where there are none.
    #[error("the CPU records no steps, and `--graphs require` was asked for")]
    CaptureOnCpu,
    /// A newcomer has nobody to come to.
    #[error("a newcomer joins others, found {clients} client; have at least 2")]
    NobodyElse {
        /// How many there are, with it.
        clients: usize,
    },
    /// The device has no memory left.
    #[error(
        "the device is out of memory: {0}; train smaller batches or a smaller model, or on the CPU"
    )]
    OutOfMemory(String),
    /// The device failed: a kernel could not run, or its results could not be read.
    #[error("the device failed: {0}")]
    Device(String),
    /// Training left the real numbers.
    #[error("round {round}: the training loss is {loss}; lower the learning rate (`--set lr=..`)")]
    Diverged {
        /// The round.
        round: usize,
        /// The loss, infinite or NaN.
        loss: f64,
    },
}

impl From<CompileError> for RunError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Failed(error) => *error,
            error => Self::Compile(error),
        }
    }
}

/// What cubecl says of allocations that fail: burn hands on its text alone. Most fail on a thread of
/// the device's, where nobody asks; then the first use of such memory says that it is not there.
const NO_MEMORY: [&str; 5] = [
    "out of device memory",
    "out-of-memory",
    "can't allocate buffer",
    "memory pool capacity exceeded",
    "Memory location was never initialized",
];

impl RunError {
    /// What burn says of work on a device.
    pub(crate) fn device(source: ExecutionError) -> Self {
        Self::said(source.reason())
    }

    /// What burn says of a device, each line once, without the kernel's source and the backtrace that
    /// follow.
    pub(crate) fn said(reason: &str) -> Self {
        let mut said: Vec<&str> = vec![];
        let lines = reason.lines().map(str::trim);
        let ends = ["Backtrace", "0:", "[Source]"];
        let end = |line: &&str| ends.iter().any(|start| line.starts_with(start));
        for line in lines.take_while(|line| !end(line)) {
            if !["", "No backtrace available"].contains(&line) && !said.contains(&line) {
                said.push(line);
            }
        }
        let said = said.join(" ");
        match NO_MEMORY.iter().any(|words| said.contains(words)) {
            true => Self::OutOfMemory(said),
            false => Self::Device(said),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_memory_is_told_from_other_failures() {
        let of = |reason: &str| {
            let reason = reason.to_owned();
            RunError::device(ExecutionError::WithContext { reason })
        };
        let full =
            of("read failed\n  out of device memory allocating 4096 bytes\nBacktrace\n 0: x");
        let words =
            "the device is out of memory: read failed out of device memory allocating 4096 bytes;";
        assert!(full.to_string().starts_with(words), "{full}");
        let big = of("can't allocate buffer of size: 8000000000");
        assert!(matches!(big, RunError::OutOfMemory(_)), "{big}");
        let unset =
            of("couldn't find resource for that handle: Memory location was never initialized");
        assert!(matches!(unset, RunError::OutOfMemory(_)), "{unset}");
        let lost = of("the device is lost");
        assert!(matches!(lost, RunError::Device(_)), "{lost}");
    }
}
