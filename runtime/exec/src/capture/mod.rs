//! Captures a training step as a graph of kernel launches, and replays it.
//!
//! A loop over batches launches the kernels of its step again and again. A [`CapturedStep`] runs a segment
//! over buffers of its own. The loop's state is copied into them when the loop begins, and out when it ends.
//! In between, each replay overwrites the state with the next one, and only the batch and the random
//! numbers are written from outside. If the examples are on the device, the step gathers its batch itself.
//! Then only the row numbers of the batch are written, and several steps can be captured in one graph (a
//! step block).
//!
//! A *plain run* computes the same step op by op. The first replays are compared with plain runs. If one
//! differs, or the device cannot capture, the step is *refused*: it runs plainly from then on.
//!
//! [`StepCache`] keeps captured steps from round to round. The caller decides which loops are replayed.

mod buffer;
mod cache;
mod graph;
mod layout;
mod recording;
mod stats;
mod step;
mod step_block;
mod step_block_buffers;
#[cfg(test)]
mod test_step;
mod validate;

use std::fmt;
use std::str::FromStr;

pub use cache::{Lookup, StepCache};
pub use layout::{ExampleColumn, InputRole, LoopStart, StepInputs, StepLayout};
pub use stats::CaptureStats;
pub use step::CapturedStep;

use burn_dispatch::DispatchDevice;

use crate::device::{is_cpu, is_cuda};

/// Whether the steps of loops over batches are recorded and replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphCapture {
    /// As [`On`](Self::On) on CUDA, and as [`Off`](Self::Off) on other devices. wgpu has no graphs, and burn's
    /// replay of its dispatches has been tested on software adapters only.
    #[default]
    Auto,
    /// Every step runs op by op.
    Off,
    /// Every step that can be captured is replayed.
    On,
    /// As [`On`](Self::On), but it is an error if the device does not capture a step that could be captured,
    /// or if a replay gives other values than a plain run.
    Require,
}

impl GraphCapture {
    /// Whether steps are captured on a device.
    pub fn records_on(self, device: &DispatchDevice) -> bool {
        match self {
            Self::Auto => is_cuda(device),
            Self::Off => false,
            Self::On | Self::Require => !is_cpu(device),
        }
    }
}

/// The error of a text that names no [`GraphCapture`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `auto`, `off`, `on` or `require`, found `{found}`")]
pub struct GraphCaptureError {
    found: String,
}

impl FromStr for GraphCapture {
    type Err = GraphCaptureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            "on" => Ok(Self::On),
            "require" => Ok(Self::Require),
            found => Err(GraphCaptureError {
                found: found.to_owned(),
            }),
        }
    }
}

impl fmt::Display for GraphCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::On => "on",
            Self::Require => "require",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let all = [
            GraphCapture::Auto,
            GraphCapture::Off,
            GraphCapture::On,
            GraphCapture::Require,
        ];
        for graphs in all {
            assert_eq!(graphs.to_string().parse::<GraphCapture>().unwrap(), graphs);
            let cpu = DispatchDevice::Flex(Default::default());
            assert!(!graphs.records_on(&cpu), "{graphs}");
        }
        let error = "yes".parse::<GraphCapture>().unwrap_err().to_string();
        assert_eq!(
            error,
            "expected `auto`, `off`, `on` or `require`, found `yes`"
        );
    }
}
