//! The generators of FedFed. Yang et al. 2023, section 4.1 and the authors' code,
//! <https://arxiv.org/abs/2310.05077>.
//!
//! Their images end in a sigmoid, so that the data's pixels must be between 0 and 1. CIFAR-10, SVHN and other
//! datasets that are scaled otherwise are to be read with `--normalize none`.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::{Conv2d, ConvTranspose2d};
use burn::tensor::activation::{leaky_relu, relu, sigmoid};
use burn::tensor::{Device, Distribution, Tensor};

use crate::layers::{BatchNorm, conv, conv_no_bias, doubling, linear, same};
use crate::{ForwardCx, Function, Network};

/// PyTorch's default slope below zero.
const SLOPE: f64 = 0.01;

/// The shape of a [`BetaVae`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaeConfig {
    /// `[channels, height, width]` of an image; sides are multiples of 4.
    pub input: [usize; 3],
    /// Channels inside: 32 in the paper's code, half as many at the border.
    pub width: usize,
    /// Size of the latent code: 2048 in the paper's code.
    pub latent: usize,
}

impl VaeConfig {
    /// The paper's code for images of a shape: 12,648,774 trained parameters for 3x32x32.
    pub fn new(input: [usize; 3]) -> Self {
        Self {
            input,
            width: 32,
            latent: 2048,
        }
    }

    /// The autoencoder.
    pub fn init(&self, device: &Device) -> BetaVae {
        let ([c, h, w], wide) = (self.input, self.width);
        let narrow = wide / 2;
        let plane = [wide, h / 4, w / 4];
        let flat = plane.iter().product();
        let norm = |channels| BatchNorm::new(channels, device);
        let residual = || Residual::new(wide, device);
        BetaVae {
            encoder: VaeEncoder {
                conv1: conv_no_bias([c, narrow], 4, 2, 1, device),
                norm1: norm(narrow),
                conv2: conv_no_bias([narrow, wide], 4, 2, 1, device),
                norm2: norm(wide),
                block1: residual(),
                norm3: norm(wide),
                block2: residual(),
                mu: linear(flat, self.latent, device),
                log_var: linear(flat, self.latent, device),
            },
            decoder: VaeDecoder {
                fc: linear(self.latent, flat, device),
                block1: residual(),
                norm1: norm(wide),
                block2: residual(),
                norm2: norm(wide),
                up1: doubling([wide, narrow], device),
                norm3: norm(narrow),
                up2: doubling([narrow, c], device),
                norm4: norm(c),
                plane,
            },
        }
    }
}

/// The β-VAE `q(x; θ)`: the parts `encoder` and `decoder`.
#[derive(Module, Debug)]
pub struct BetaVae {
    /// From images to means and log variances of codes.
    pub encoder: VaeEncoder,
    /// From codes to images.
    pub decoder: VaeDecoder,
}

/// Two halving convolutions, two residual blocks, two linear layers.
#[derive(Module, Debug)]
pub struct VaeEncoder {
    /// 4x4, stride 2.
    pub conv1: Conv2d,
    /// After `conv1`.
    pub norm1: BatchNorm,
    /// 4x4, stride 2.
    pub conv2: Conv2d,
    /// After `conv2`.
    pub norm2: BatchNorm,
    /// First block.
    pub block1: Residual,
    /// Between the blocks.
    pub norm3: BatchNorm,
    /// Second block.
    pub block2: Residual,
    /// To the mean of the code.
    pub mu: Linear,
    /// To the logarithm of its variance.
    pub log_var: Linear,
}

/// One linear layer, two residual blocks, two doubling convolutions.
#[derive(Module, Debug)]
pub struct VaeDecoder {
    /// From the code.
    pub fc: Linear,
    /// First block.
    pub block1: Residual,
    /// After `block1`.
    pub norm1: BatchNorm,
    /// Second block.
    pub block2: Residual,
    /// After `block2`.
    pub norm2: BatchNorm,
    /// Transposed 4x4, stride 2.
    pub up1: ConvTranspose2d,
    /// After `up1`.
    pub norm3: BatchNorm,
    /// Transposed 4x4, stride 2.
    pub up2: ConvTranspose2d,
    /// After `up2`.
    pub norm4: BatchNorm,
    plane: [usize; 3],
}

/// `x + f(x)`, where `f` is leaky ReLU, conv3x3, normalisation, leaky ReLU, conv1x1.
#[derive(Module, Debug)]
pub struct Residual {
    /// 3x3, padded.
    pub conv1: Conv2d,
    /// After `conv1`.
    pub norm: BatchNorm,
    /// 1x1.
    pub conv2: Conv2d,
}

impl Residual {
    fn new(channels: usize, device: &Device) -> Self {
        let of = |kernel| conv([channels, channels], kernel);
        Self {
            conv1: of(3).with_padding(same(1)).init(device),
            norm: BatchNorm::new(channels, device),
            conv2: of(1).init(device),
        }
    }

    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        let h = self.conv1.forward(leaky_relu(x.clone(), SLOPE));
        let h = self.norm.forward(h, cx);
        x + self.conv2.forward(leaky_relu(h, SLOPE))
    }
}

impl BetaVae {
    /// Mean and log variance of each image's code, side by side.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`, in `[0, 1]`
    /// - output: `[batch, 2 · latent]`, the means first
    pub fn encode(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let e = &self.encoder;
        let h = relu(e.norm1.forward(e.conv1.forward(x), cx));
        let h = relu(e.norm2.forward(e.conv2.forward(h), cx));
        let h = e.norm3.forward(e.block1.forward(h, cx), cx);
        let h: Tensor<2> = e.block2.forward(h, cx).flatten(1, 3);
        let [mu, log_var] = [&e.mu, &e.log_var].map(|layer| layer.forward(h.clone()));
        Tensor::cat(vec![mu, log_var], 1)
    }

    /// A code `μ + e^{½ ln σ²} ε` with `ε` standard normal in training; the mean in inference.
    ///
    /// # Shapes
    ///
    /// - `code`: `[batch, 2 · latent]`, see [`encode`](Self::encode)
    /// - output: `[batch, latent]`
    pub fn sample(&self, code: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        let latent = code.dims()[1] / 2;
        let [mu, log_var] = [0, latent].map(|from| code.clone().narrow(1, from, latent));
        if !cx.is_training() {
            return mu;
        }
        let noise = Tensor::random(mu.dims(), Distribution::Normal(0.0, 1.0), &mu.device());
        mu + (log_var * 0.5).exp() * noise
    }

    /// Images of codes.
    ///
    /// # Shapes
    ///
    /// - `z`: `[batch, latent]`
    /// - output: `[batch, channels, height, width]`, in `(0, 1)`
    pub fn decode(&self, z: Tensor<2>, cx: &ForwardCx) -> Tensor<4> {
        let d = &self.decoder;
        let [batch, _] = z.dims();
        let [c, h, w] = d.plane;
        let h = d.fc.forward(z).reshape([batch, c, h, w]);
        let h = d.norm1.forward(d.block1.forward(h, cx), cx);
        let h = d.norm2.forward(d.block2.forward(h, cx), cx);
        let h = d.norm3.forward(d.up1.forward(h), cx);
        let h = leaky_relu(h, SLOPE).tanh();
        sigmoid(d.norm4.forward(d.up2.forward(h), cx))
    }

    /// `q(x)`: the images again, through their codes.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`, in `[0, 1]`
    /// - output: the same, in `(0, 1)`
    pub fn reconstruct(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        self.decode(self.sample(self.encode(x, cx), cx), cx)
    }
}

impl Network for BetaVae {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("encode", Self::encode),
            Function::new("sample", Self::sample),
            Function::new("decode", Self::decode),
            Function::new("reconstruct", Self::reconstruct),
        ]
    }
}

/// A generator without a bottleneck: a convolution, residual blocks of the image's size, and a
/// convolution back.
///
/// Departs: the paper says "ResNet" alone of this generator; its shape here is ours.
#[derive(Module, Debug)]
pub struct ResNetGenerator {
    /// 3x3, from the image.
    pub first: Conv2d,
    /// The blocks.
    pub blocks: Vec<Residual>,
    /// 3x3, to the image.
    pub last: Conv2d,
}

impl ResNetGenerator {
    /// With so many residual blocks of `width` channels.
    pub fn new(channels: usize, width: usize, blocks: usize, device: &Device) -> Self {
        let conv = |from, to| conv([from, to], 3).with_padding(same(1)).init(device);
        Self {
            first: conv(channels, width),
            blocks: (0..blocks).map(|_| Residual::new(width, device)).collect(),
            last: conv(width, channels),
        }
    }

    /// `q(x)`.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`, in `[0, 1]`
    /// - output: the same, in `(0, 1)`
    pub fn reconstruct(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        let h = self.first.forward(x);
        let h = self.blocks.iter().fold(h, |h, b| b.forward(h, cx));
        sigmoid(self.last.forward(h))
    }

    /// Mean and log variance of a code that is not there: zeros, which are no divergence from the
    /// standard normal distribution.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, 2]`
    pub fn encode(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        Tensor::zeros([x.dims()[0], 2], &x.device())
    }
}

impl Network for ResNetGenerator {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("reconstruct", Self::reconstruct),
            Function::new("encode", Self::encode),
        ]
    }
}
