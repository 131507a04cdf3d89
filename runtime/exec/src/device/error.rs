//! Errors of choosing and opening a device.

use super::Device;
use super::availability::Unavailable;
use crate::precision::Precision;

/// A device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The build or the machine lacks something.
    #[error("`{device}` cannot be used: {}", listed(problems))]
    Missing {
        /// The device.
        device: Device,
        /// What.
        problems: Vec<Unavailable>,
    },
    /// There are fewer.
    #[error("there is no `{device}`, found {found}; `fedround doctor` lists the devices")]
    Number {
        /// The device.
        device: Device,
        /// How many of its kind there are.
        found: usize,
    },
    /// It computes nothing.
    #[error("`{device}` did not multiply two small matrices: {why}")]
    Fails {
        /// The device.
        device: Device,
        /// What its libraries say.
        why: String,
    },
    /// It computes something else.
    #[error("`{device}` multiplied two small matrices wrongly; update its driver, or use another")]
    Wrong {
        /// The device.
        device: Device,
    },
    /// It computes in `f32`, and not in the precision.
    #[error(
        "`{device}` cannot compute in {precision}: its driver or its kernels' language has no {precision} {lacking}"
    )]
    Precision {
        /// The device.
        device: Device,
        /// What is asked of it.
        precision: Precision,
        /// What it lacks.
        lacking: String,
    },
    /// It is named twice among those that share a cohort.
    #[error(
        "`{device}` is named twice; name each device once: more threads give the CPU more workers, and one thread feeds a GPU"
    )]
    Twice {
        /// The device.
        device: Device,
    },
    /// No such name.
    #[error("expected `auto`, `cpu`, `wgpu[:N]` or `cuda[:N]`, found `{found}`")]
    Unknown {
        /// The text.
        found: String,
    },
}

fn listed(problems: &[Unavailable]) -> String {
    let lines = problems
        .iter()
        .map(|problem| format!("{problem}: {}", problem.fix()));
    lines.collect::<Vec<_>>().join("; ")
}
