//! Records a training step as a graph of kernel launches, and replays it.
//!
//! A loop over batches launches the kernels of its step again and again. A [`CapturedStep`] is a
//! segment over buffers of its own: values are copied in when the loop begins and out when it ends; in
//! between, each replay writes the next state where the last one was, and only the batch and the
//! random numbers are replaced. If the step gathers its batch from examples on the device, only the
//! numbers of the batch's rows are replaced, and several steps can be one recording. [`StepCache`] keeps
//! captured steps from round to round. Which loops are replayed is for the caller to decide.

mod block;
mod buffer;
mod cache;
mod graph;
mod layout;
mod recording;
mod stats;
mod step;
mod step_block;
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
    /// As [`On`](Self::On) on CUDA, and as [`Off`](Self::Off) on other devices: wgpu has no graphs,
    /// and burn's replay of its dispatches has run on software adapters only.
    #[default]
    Auto,
    /// Every step runs op by op.
    Off,
    /// Steps are replayed where they can be.
    On,
    /// As [`On`](Self::On), but it is an error if a step that could be recorded is not, or if its
    /// replay gives other values.
    Require,
}

impl GraphCapture {
    /// Whether steps are recorded on a device.
    pub fn records_on(self, device: &DispatchDevice) -> bool {
        match self {
            Self::Auto => is_cuda(device),
            Self::Off => false,
            Self::On | Self::Require => !is_cpu(device),
        }
    }
}

/// A text names no [`GraphCapture`].
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
