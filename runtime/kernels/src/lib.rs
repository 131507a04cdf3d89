//! Fast `f32` convolutions, pools, small matrix products and element-wise programs over burn-flex
//! tensors, for one-thread workers.
//!
//! The simulation runs one client per worker thread. Every kernel therefore runs on the thread that calls
//! it: it starts no thread and uses no global pool. Idle workers can be lent to that thread ([`team`]) and
//! then help with large convolutions, matrix products and element-wise programs. The results are the same bit
//! for bit. Tensors are NCHW. Inputs that are not contiguous are copied first, and outputs are contiguous. Their
//! buffers may be those of earlier tensors ([`buffers`]).
//!
//! # How the convolutions work
//!
//! One image at a time is *staged* in a buffer that stays in the second-level cache, and one small
//! register-tiled product reads it through a table of offsets, one per row of the im2col matrix:
//!
//! - with stride 1 the im2col matrix is never built. Row `(c, ky, kx)` of it is the staged image
//!   itself, shifted by `c*H*W + ky*W + kx`; output pixels are computed on the input's row stride
//!   and the few columns that do not exist in the output are dropped. A 1x1 kernel over maps that fill
//!   vectors reads the image where it is, and writes the output where it belongs.
//! - for other strides, and for maps so small that those columns cost more than a copy, the
//!   columns are built, and the table points at their rows.
//!
//! The input gradient is the same product with the roles of the offsets swapped: it adds into shifted
//! positions of the staged image. The weight gradient is a tile of dot products over the same rows. For
//! many channels and small maps, it is a product over patches of a channels-last copy instead.
//!
//! 3x3 convolutions of stride 1 with many channels and images are computed by Winograd's method instead, which
//! multiplies a quarter as often and rounds about twice as much ([`Conv2d::exact`] turns it off). The shapes
//! alone decide.
//!
//! The instruction set (AVX-512, AVX2, NEON, or none of them) is chosen at run time, without unsafe code in
//! this crate. For a given instruction set, results depend on the inputs only. The results of an image do
//! not depend on the other images of its batch, except that their number decides for or against Winograd's
//! method. (A weight gradient sums over images in order.)
//!
//! A group of channels is treated as an image of its own with its own filters. A dilation changes only the
//! offsets.
//!
//! Zeros in the padding and in the gaps between rows are multiplied and added like any other value. An
//! infinite or NaN weight or pixel therefore reaches all outputs that IEEE arithmetic prescribes, and a few
//! more in gradients. By Winograd's method it reaches all pixels of a tile of 4x4.

#![forbid(unsafe_code)]

pub mod buffers;
mod conv;
mod conv_grad;
mod conv_weight_grad;
mod dot;
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
