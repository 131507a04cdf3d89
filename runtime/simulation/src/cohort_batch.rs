//! The number of clients of a cohort that train together, as one graph with a client axis.

use std::fmt;
use std::str::FromStr;

use fedround_exec::Program;
use fedround_exec::device;

/// How many clients run in one graph, with a client axis on parameters, state and data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CohortBatch {
    /// Chosen by the device, the size of a step and the memory, and never by timings: a run's results depend only on
    /// its settings.
    #[default]
    Auto,
    /// Each worker trains one client at a time.
    Off,
    /// Up to this many clients, at least one.
    Clients(usize),
}

/// A text does not name a [`CohortBatch`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `auto`, `off` or a number of clients from 1 on, found `{0}`")]
pub struct CohortBatchError(String);

impl FromStr for CohortBatch {
    type Err = CohortBatchError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            number => match number.parse() {
                Ok(n) if n > 0 => Ok(Self::Clients(n)),
                _ => Err(CohortBatchError(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for CohortBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Clients(n) => write!(f, "{n}"),
        }
    }
}

/// On the CPU, the largest number of parameters of a model whose clients train in groups.
const CPU_PARAMETERS: usize = 16 * 1024;
/// On the CPU, the number of clients in such a group.
const CPU_CLIENTS: usize = 5;

/// On a GPU, the bytes that the parameters, gradients and optimizer states of a group may take.
const GPU_BYTES: usize = 2 << 30;

impl CohortBatch {
    /// The number of clients in one graph, for a program.
    ///
    /// On the CPU, groups are faster only for very small steps, such as those of logistic regression, which mostly
    /// consist of the fixed costs of operations. For larger steps, one client on each worker is faster, because its
    /// data stays in the core's cache (`docs/benchmarks/cpu.md`). On a GPU, a group has as many clients as fit in a
    /// part of the memory, up to 64.
    pub(crate) fn clients(self, program: &Program) -> usize {
        match self {
            Self::Off => 1,
            Self::Clients(n) => n,
            Self::Auto if device::is_cpu(program.device()) => {
                if program.parameter_count() <= CPU_PARAMETERS {
                    CPU_CLIENTS
                } else {
                    1
                }
            }
            Self::Auto => {
                let inputs = program.model().input(program.batch_size()).len();
                let bytes = 4 * (4 * program.parameter_count() + 8 * inputs);
                (GPU_BYTES / bytes.max(1)).clamp(1, 64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["auto", "off", "1", "16"] {
            let parsed: CohortBatch = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
        for text in ["", "0", "-1", "all", "1.5"] {
            let error = text.parse::<CohortBatch>().unwrap_err().to_string();
            assert!(error.contains("expected `auto`, `off`"), "{error}");
        }
    }
}
