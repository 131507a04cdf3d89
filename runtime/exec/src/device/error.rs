//! Errors of choosing and opening a device.

use super::Device;
use super::availability::Unavailable;
use crate::precision::Precision;

/// A device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The build or the machine lacks something that the device needs.
    #[error("`{device}` cannot be used: {}", problem_list(problems))]
    Missing {
        /// The device.
        device: Device,
        /// The missing features, libraries or drivers.
        problems: Vec<Unavailable>,
    },
    /// The number of the device is too large.
    #[error("there is no `{device}`, found {found}; `fedround doctor` lists the devices")]
    Number {
        /// The device.
        device: Device,
        /// The number of devices of this kind.
        found: usize,
    },
    /// The device failed in the self-test.
    #[error("`{device}` did not multiply two small matrices: {why}")]
    Fails {
        /// The device.
        device: Device,
        /// The message of its libraries.
        why: String,
    },
    /// The device gave a wrong result in the self-test.
    #[error("`{device}` multiplied two small matrices wrongly; update its driver, or use another")]
    Wrong {
        /// The device.
        device: Device,
    },
    /// The device computes in `f32`, but not in the requested precision.
    #[error(
        "`{device}` cannot compute in {precision}: its driver or its kernels' language has no {precision} {lacking}"
    )]
    Precision {
        /// The device.
        device: Device,
        /// The requested precision.
        precision: Precision,
        /// The missing capabilities, such as `storage and arithmetic`.
        lacking: String,
    },
    /// The device is named twice in a list of devices that share a cohort.
    #[error(
        "`{device}` is named twice; name each device once: more threads give the CPU more workers, and one thread feeds a GPU"
    )]
    Twice {
        /// The device.
        device: Device,
    },
    /// The text names no device.
    #[error("expected `auto`, `cpu`, `wgpu[:N]` or `cuda[:N]`, found `{found}`")]
    Unknown {
        /// The unknown text.
        found: String,
    },
}

/// The problems in one line, each with its fix.
fn problem_list(problems: &[Unavailable]) -> String {
    let lines = problems
        .iter()
        .map(|problem| format!("{problem}: {}", problem.fix()));
    lines.collect::<Vec<_>>().join("; ")
}
