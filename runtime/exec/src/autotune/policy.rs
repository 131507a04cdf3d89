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

/// Chooses the algorithm of convolutions whose weights differ between the clients of a graph, and of all
/// convolutions if the operands of products are 16-bit floats. The algorithms differ only in the order of
/// their sums.
#[derive(Clone, Debug)]
pub enum ConvPolicy {
    /// [`Timed`](Self::Timed) in builds with the feature `autotune`, in which burn also chooses its kernels by
    /// timing. In other builds one grouped op, so that results do not depend on timings.
    Auto(AutotuneCache),
    /// This algorithm. A convolution to which it does not apply stays one op.
    Always(ConvAlgorithm),
    /// On GPUs, the algorithm that was fastest when a convolution of these shapes was first compiled. On the
    /// CPU one op, for which fedround has kernels.
    Timed(AutotuneCache),
}

/// The error of a text that names no [`ConvPolicy`].
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
        let mut algorithms = ConvAlgorithm::ALL.into_iter();
        let algorithm = algorithms.find(|algorithm| algorithm.name() == text);
        algorithm.map(Self::Always).ok_or_else(|| ConvPolicyError {
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
    /// The same policy with its timings in `cache`.
    #[must_use]
    pub fn with_cache(self, cache: AutotuneCache) -> Self {
        match self {
            Self::Auto(_) => Self::Auto(cache),
            Self::Timed(_) => Self::Timed(cache),
            always @ Self::Always(_) => always,
        }
    }

    /// The fixed algorithm; `None` for a policy that may choose by timing.
    pub fn always(&self) -> Option<ConvAlgorithm> {
        match self {
            Self::Always(algorithm) => Some(*algorithm),
            _ => None,
        }
    }

    /// Whether some convolutions may be computed by another algorithm than one grouped op.
    pub(crate) fn may_replace(&self, device: &DispatchDevice) -> bool {
        match self {
            Self::Always(algorithm) => *algorithm != ConvAlgorithm::Grouped,
            Self::Timed(_) => !is_cpu(device),
            Self::Auto(_) => cfg!(feature = "autotune") && !is_cpu(device),
        }
    }

    /// The algorithm of the convolution `op`, whose two factors have these shapes.
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
