//! Layers that burn lacks, or that act differently in training and in inference.
//!
//! burn's other layers are used as they are: `GroupNorm`, `LayerNorm` and `InstanceNorm` have one
//! form, and burn's defaults for them are PyTorch's.

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
