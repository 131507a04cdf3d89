//! Layers that act differently in training and in inference.
//!
//! burn's other layers are used as they are: `GroupNorm`, `LayerNorm` and `InstanceNorm` have one
//! form, and burn's defaults for them are PyTorch's.

mod batch_norm;
mod dropout;

pub use batch_norm::BatchNorm;
pub use dropout::Dropout;
