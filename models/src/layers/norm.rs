//! A choice between several normalisations.

use burn::module::Module;
use burn::nn::{GroupNorm, GroupNormConfig};
use burn::tensor::{Device, Tensor};

use super::BatchNorm;
use crate::ForwardCx;

/// The normalisation of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// Batch normalisation.
    Batch,
    /// Group normalisation with this many groups.
    Group(usize),
}

/// A normalisation layer of either kind.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a few dozen in a network")]
pub enum Norm {
    /// Batch normalisation.
    Batch(BatchNorm),
    /// Group normalisation.
    Group(GroupNorm),
}

impl Norm {
    /// For activations of `channels` channels.
    pub fn new(kind: NormKind, channels: usize, device: &Device) -> Self {
        match kind {
            NormKind::Batch => Self::Batch(BatchNorm::new(channels, device)),
            NormKind::Group(n) => Self::Group(GroupNormConfig::new(n, channels).init(device)),
        }
    }

    /// Normalises a batch.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, ..]`
    /// - output: the same
    pub fn forward<const D: usize>(&self, x: Tensor<D>, cx: &ForwardCx) -> Tensor<D> {
        match self {
            Self::Batch(norm) => norm.forward(x, cx),
            Self::Group(norm) => norm.forward(x),
        }
    }
}
