//! burn's layers with parameters of zeros, which the caller then initialises.

use burn::module::Initializer;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{Device, Tensor};

/// A linear layer.
pub(crate) fn linear(d_in: usize, d_out: usize, device: &Device) -> Linear {
    config(d_in, d_out).init(device)
}

/// A linear layer without a bias, as before a normalisation.
pub(crate) fn linear_no_bias(d_in: usize, d_out: usize, device: &Device) -> Linear {
    config(d_in, d_out).with_bias(false).init(device)
}

fn config(d_in: usize, d_out: usize) -> LinearConfig {
    LinearConfig::new(d_in, d_out).with_initializer(Initializer::Zeros)
}

/// A vector of `size` numbers for each of `n` words.
pub(crate) fn embedding(n: usize, size: usize, device: &Device) -> Embedding {
    EmbeddingConfig::new(n, size)
        .with_initializer(Initializer::Zeros)
        .init(device)
}

/// A square convolution of stride 1 and no padding; the options follow as in burn.
pub(crate) fn conv(channels: [usize; 2], kernel: usize) -> Conv2dConfig {
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_padding(PaddingConfig2d::Valid)
        .with_initializer(Initializer::Zeros)
}

/// A convolution that stands before a normalisation, without a bias.
pub(crate) fn conv_no_bias(
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    padding: usize,
    device: &Device,
) -> Conv2d {
    conv(channels, kernel)
        .with_stride([stride, stride])
        .with_padding(same(padding))
        .with_bias(false)
        .init(device)
}

/// `n` rows and columns of zeros on each side.
pub(crate) fn same(n: usize) -> PaddingConfig2d {
    PaddingConfig2d::Explicit(n, n, n, n)
}

/// A transposed 4x4 convolution of stride 2 that doubles an image's sides, without a bias.
pub(crate) fn doubling(channels: [usize; 2], device: &Device) -> ConvTranspose2d {
    ConvTranspose2dConfig::new(channels, [4, 4])
        .with_stride([2, 2])
        .with_padding([1, 1])
        .with_bias(false)
        .with_initializer(Initializer::Zeros)
        .init(device)
}

/// 2x2 max pool, stride 2.
pub(crate) fn pool(x: Tensor<4>) -> Tensor<4> {
    max_pool2d(x, MaxPoolOptions::new([2, 2]))
}

/// The mean of each channel's plane: `[batch, channels, height, width]` to `[batch, channels]`.
pub(crate) fn plane_means(x: Tensor<4>) -> Tensor<2> {
    let [batch, channels, height, width] = x.dims();
    let planes: Tensor<3> = x.reshape([batch, channels, height * width]);
    planes.mean_dim(2).reshape([batch, channels])
}
