//! Which form convolutions of clients in one graph take.

mod choices;
mod measure;

use std::str::FromStr;

use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::Op;
use fedround_passes::tensor::{ConvAlgorithm, conv_options};

use crate::device::is_cpu;
use crate::error::CompileError;
use crate::precision::Precision;
pub use choices::AutotuneCache;
pub use measure::convolution_times;

/// The form of convolutions whose weights differ between the clients of a graph, and with products
/// of 16-bit floats of all convolutions. It changes the order of sums alone.
#[derive(Clone, Debug, Default)]
pub enum ConvPolicy {
    /// [`Timed`](Self::Timed) with the user's choices in builds that choose burn's kernels by timing
    /// them, too; in others one op, so that results do not depend on timings.
    #[default]
    Auto,
    /// This one. Where it does not apply, the convolution stays one op.
    Always(ConvAlgorithm),
    /// On GPUs, that which is fastest on the device for the shapes when they are first met; on the
    /// CPU one op, which our kernels know.
    Timed(AutotuneCache),
}

/// A text is no choice of [`ConvPolicy`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `auto`, `grouped`, `unfold` or `split`, found `{found}`")]
pub struct ConvPolicyError {
    found: String,
}

impl FromStr for ConvPolicy {
    type Err = ConvPolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let known = ConvAlgorithm::ALL.into_iter().find(|l| l.name() == text);
        known.map(Self::Always).ok_or_else(|| ConvPolicyError {
            found: text.to_owned(),
        })
    }
}

impl ConvPolicy {
    /// The form, where it is not chosen by timing.
    pub fn always(&self) -> Option<ConvAlgorithm> {
        match self {
            Self::Always(form) => Some(*form),
            _ => None,
        }
    }

    /// Whether some convolutions may take another form than one op.
    pub(crate) fn change_some(&self, device: &DispatchDevice) -> bool {
        match self {
            Self::Always(form) => *form != ConvAlgorithm::Grouped,
            Self::Timed(_) => !is_cpu(device),
            Self::Auto => cfg!(feature = "autotune") && !is_cpu(device),
        }
    }

    /// The form of a convolution whose factors have these shapes.
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
    ) -> Result<ConvAlgorithm, CompileError> {
        let grouped = conv_options(op).is_some_and(|o| o.groups > 1);
        if !grouped && precision == Precision::F32 {
            return Ok(ConvAlgorithm::Grouped);
        }
        let choices = match self {
            Self::Always(form) => return Ok(*form),
            Self::Timed(choices) => choices,
            Self::Auto => &AutotuneCache::of_user(),
        };
        let about = format!("{precision}; {op:?}; {shapes:?}");
        choices.choose(device, &about, || {
            measure::fastest(device, precision, op, shapes)
        })
    }
}

#[cfg(test)]
mod tests;
