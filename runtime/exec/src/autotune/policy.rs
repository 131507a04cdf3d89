//! The policy for convolutions whose clients have weights of their own: one fixed algorithm, or the fastest
//! on each device.

use std::str::FromStr;

use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::Op;
use fedround_passes::tensor::{ConvAlgorithm, conv_options};

use super::cache::AutotuneCache;
use super::measure;
use crate::device::{ExecError, is_cpu};
use crate::precision::Precision;

/// The algorithm of convolutions whose weights differ between the clients of a graph, and of all
/// convolutions where products are of 16-bit floats. Algorithms differ only in the order of sums.
#[derive(Clone, Debug)]
pub enum ConvPolicy {
    /// [`Timed`](Self::Timed) in builds with the feature `autotune`, which choose burn's kernels by
    /// timing, too. In other builds one grouped op, so that results do not depend on timings.
    Auto(AutotuneCache),
    /// This algorithm. A convolution to which it does not apply stays one op.
    Always(ConvAlgorithm),
    /// On GPUs, the algorithm that was fastest for the shapes when they were first met. On the CPU
    /// one op, for which fedround has kernels.
    Timed(AutotuneCache),
}

/// A text names no [`ConvPolicy`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `auto`, `grouped`, `unfold` or `split`, found `{found}`")]
pub struct ConvPolicyError {
    found: String,
}

impl FromStr for ConvPolicy {
    type Err = ConvPolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::default());
        }
        let known = ConvAlgorithm::ALL.into_iter().find(|l| l.name() == text);
        known.map(Self::Always).ok_or_else(|| ConvPolicyError {
            found: text.to_owned(),
        })
    }
}

impl Default for ConvPolicy {
    /// [`Auto`](Self::Auto), with a cache in memory.
    fn default() -> Self {
        Self::Auto(AutotuneCache::default())
    }
}

impl ConvPolicy {
    /// The same policy, which keeps its timings in `cache`.
    #[must_use]
    pub fn with_cache(self, cache: AutotuneCache) -> Self {
        match self {
            Self::Auto(_) => Self::Auto(cache),
            Self::Timed(_) => Self::Timed(cache),
            always @ Self::Always(_) => always,
        }
    }

    /// The algorithm, if it is not chosen by timing.
    pub fn always(&self) -> Option<ConvAlgorithm> {
        match self {
            Self::Always(algorithm) => Some(*algorithm),
            _ => None,
        }
    }

    /// Whether some convolutions may become something else than one op.
    pub(crate) fn change_some(&self, device: &DispatchDevice) -> bool {
        match self {
            Self::Always(algorithm) => *algorithm != ConvAlgorithm::Grouped,
            Self::Timed(_) => !is_cpu(device),
            Self::Auto(_) => cfg!(feature = "autotune") && !is_cpu(device),
        }
    }

    /// The algorithm of a convolution whose factors have these shapes.
    ///
    /// # Errors
    ///
    /// The device has failed before anything was measured.
    pub(crate) fn choose(
        &self,
        device: &DispatchDevice,
        precision: Precision,
        op: &Op,
        shapes: [&[usize]; 2],
    ) -> Result<ConvAlgorithm, ExecError> {
        let grouped = conv_options(op).is_some_and(|o| o.groups > 1);
        if !grouped && precision == Precision::F32 {
            return Ok(ConvAlgorithm::Grouped);
        }
        let cache = match self {
            Self::Always(algorithm) => return Ok(*algorithm),
            Self::Timed(cache) | Self::Auto(cache) => cache,
        };
        let about = format!("{precision}; {op:?}; {shapes:?}");
        cache.choose(device, &about, || {
            measure::fastest(device, precision, op, shapes)
        })
    }
}
