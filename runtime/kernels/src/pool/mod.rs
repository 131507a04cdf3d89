//! Max and average pooling.
//!
//! One row of outputs is computed at a time. For every element of the window, the row takes in the pixels
//! under this element, which are one stride apart. With padding, only some outputs have a pixel there, and
//! these are determined in advance.

mod average;
mod axis;
mod max;

pub use average::{AvgPool2d, avg_pool2d, avg_pool2d_backward};
pub use max::{MaxPool2d, max_pool2d, max_pool2d_backward};
