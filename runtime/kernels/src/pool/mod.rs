//! Max and average pooling.
//!
//! One row of outputs is computed at a time. Loop order, from outside: planes, rows of outputs, lines of the window,
//! elements of a line of the window, outputs of the row. The innermost loop combines each output with the pixel that lies
//! under one element of its window; these pixels are one stride apart. With padding, only some outputs have a pixel under
//! an element. Which ones is computed once, before the loops ([`axis`]).

mod average;
mod axis;
mod max;

pub use average::{AvgPool2d, avg_pool2d, avg_pool2d_backward};
pub use max::{MaxPool2d, max_pool2d, max_pool2d_backward};
