//! Max and average pooling.
//!
//! A row of outputs is computed at a time: for every element of the window, the row takes in the
//! pixels that this element sees, which lie a stride apart. Which outputs see one at all, for
//! padding, is known before.

mod average;
mod axis;
mod max;

pub use average::{AvgPool2d, avg_pool2d, avg_pool2d_backward};
pub use max::{MaxPool2d, max_pool2d, max_pool2d_backward};
