//! Layers that burn does not have, or that behave differently in training and in inference.
//!
//! Use burn's own layers otherwise, except those that are refused: `BatchNorm`, whose running statistics would be
//! trained, and `Dropout`, `GaussianNoise` and `RRelu`, which ask the device whether they train, which a traced
//! model cannot tell them. `GroupNorm`, `LayerNorm`
//! and `InstanceNorm` behave the same in training and in inference, and their defaults in burn are those of
//! PyTorch, except that burn's `InstanceNorm` has a scale and a shift.

mod basic;
mod batch_norm;
mod dropout;
mod lstm;
mod mlp;
mod norm;

pub use batch_norm::BatchNorm;
pub use dropout::Dropout;
pub use lstm::{Lstm, LstmState};
pub use mlp::Mlp;
pub use norm::{Norm, NormKind};

pub(crate) use basic::{
    conv, conv_no_bias, doubling, embedding, linear, linear_no_bias, plane_means, pool, same,
};
