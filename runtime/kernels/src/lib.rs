//! Fast `f32` convolutions, pools, small matrix products and element-wise programs over burn-flex
//! tensors, for one-thread workers.
//!
//! The simulation runs one client per worker thread. Every kernel therefore runs on the thread that calls it: it
//! starts no thread and uses no global pool. Idle workers can be lent to that thread ([`team`]) and then help with
//! large convolutions, matrix products and element-wise programs. The results are the same bit for bit with and
//! without help.
//!
//! Images are NCHW. Inputs that are not contiguous are copied first, and outputs are contiguous. Output buffers may
//! be those of earlier tensors ([`buffers`]).
//!
//! # Terms
//!
//! - A *tile* is the block of output values that one inner loop keeps in registers: some rows by some vectors.
//!   In Winograd's method, a tile is a square of output pixels.
//! - A *panel* is a part of an operand, packed in the order in which the tiles read it.
//! - A *lane* is one value of a vector. `LANES` is the width of the widest vector, 16; row lengths are padded to
//!   multiples of it.
//! - A *tap* is one weight of a filter, `(c, ky, kx)`. It is also a row of the im2col matrix.
//! - The *pitch* of a matrix is the distance between its rows.
//! - *Scratch* buffers belong to a thread and are reused by its next kernel.
//!
//! # How the convolutions work
//!
//! One image at a time is *staged*: copied with its padding to a buffer that stays in the second-level cache. A
//! small register-tiled product reads it through a table of offsets, one for each row of the im2col matrix:
//!
//! - In the *shifted* form the im2col matrix is never built. Its row `(c, ky, kx)` is the staged image itself,
//!   shifted by `c*H*W + ky*W + kx`. Output pixels are computed on the input's pitch, and the few surplus columns
//!   that do not exist in the output are dropped. A 1x1 kernel over maps that fill vectors reads the image in
//!   place, and writes the output in place.
//! - In the *columns* form the rows of the im2col matrix are copied. It is used if the surplus columns cost more
//!   than the copy, as for small maps.
//!
//! The input gradient is the same product with the roles of the offsets swapped: it adds to shifted positions of
//! the staged image. The weight gradient is a tile of dot products over the same rows. For many channels and small
//! maps, it is a product over patches of a channels-last copy instead.
//!
//! 3x3 and 5x5 convolutions of stride 1 with many channels and images are computed by Winograd's method instead. A
//! 3x3 convolution then multiplies a quarter as often, and rounds about twice as much. [`Conv2d::exact`] turns the
//! method off. The choice depends on the shapes only.
//!
//! The instruction set (AVX-512, AVX2, NEON, or none of them) is chosen at run time, without unsafe code in this
//! crate. For a given instruction set, results depend on the inputs only. The results of an image do not depend on
//! the other images of its batch, except that their number decides for or against Winograd's method. (A weight
//! gradient sums over images in order.)
//!
//! A group of channels is treated as an image of its own with its own filters. A dilation changes only the offsets.
//!
//! Zeros in the padding and in the gaps between rows are multiplied and added like any other value. An infinite or
//! NaN weight or pixel therefore reaches all outputs that IEEE arithmetic prescribes, and a few more in gradients.
//! By Winograd's method it reaches all pixels of a tile.

#![forbid(unsafe_code)]

pub mod buffers;
mod conv;
mod conv_grad;
mod conv_weight_grad;
mod dot_product;
mod elementwise;
mod flex;
pub mod fused;
mod im2col;
mod lanes;
mod lines;
mod math;
mod matmul;
mod matmul_parts;
mod matrix;
mod patches;
mod pool;
mod product;
mod row_dots;
mod scratch;
mod shape;
mod simd;
mod softmax;
mod staged;
mod strip;
pub mod team;
mod tile;
mod winograd;

pub use conv::conv2d;
pub use conv_grad::conv2d_input_grad;
pub use conv_weight_grad::conv2d_weight_grad;
pub use elementwise::{add_weighted, axpy, dot, relu_backward, scale_sums};
pub use matmul::{ScaledProduct, matmul, matmul_update};
pub use pool::{
    AvgPool2d, MaxPool2d, avg_pool2d, avg_pool2d_backward, max_pool2d, max_pool2d_backward,
};
pub use shape::Conv2d;
pub use softmax::log_softmax;
