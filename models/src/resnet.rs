//! Residual networks for small images.

use burn::module::{Initializer, Module};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{GroupNorm, GroupNormConfig, Linear, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::BatchNorm;
use crate::linear::linear;
use crate::{Classifier, ForwardCx, Task};

/// ResNet-18 for CIFAR. He et al. 2016, <https://arxiv.org/abs/1512.03385>, with a stem of one 3x3
/// convolution of stride 1 and no pool, as usual for 32x32 images: 11,173,962 trained parameters
/// for 3 channels and 10 classes.
#[derive(Module, Debug)]
pub struct ResNet18 {
    /// Everything but the last layer.
    pub features: ResNetFeatures,
    /// `[8 · width, classes]`.
    pub head: Linear,
}

/// Everything of [`ResNet18`] but its last layer: the stem and four stages of two blocks. From the
/// second on, a stage halves the image's sides and doubles the channels.
#[derive(Module, Debug)]
pub struct ResNetFeatures {
    /// `[width, channels, 3, 3]`.
    pub conv: Conv2d,
    /// After the stem's convolution.
    pub norm: Norm,
    /// Blocks of `width` channels.
    pub stage1: Vec<Block>,
    /// Blocks of `2 · width` channels.
    pub stage2: Vec<Block>,
    /// Blocks of `4 · width` channels.
    pub stage3: Vec<Block>,
    /// Blocks of `8 · width` channels.
    pub stage4: Vec<Block>,
}

/// Two convolutions and a shortcut around them.
#[derive(Module, Debug)]
pub struct Block {
    /// 3x3, with the block's stride.
    pub conv1: Conv2d,
    /// After `conv1`.
    pub norm1: Norm,
    /// 3x3.
    pub conv2: Conv2d,
    /// After `conv2`.
    pub norm2: Norm,
    /// A 1x1 convolution and its normalisation where the shape changes, else the identity.
    pub shortcut: Option<Shortcut>,
}

/// A projection of a block's input to the shape of its output.
#[derive(Module, Debug)]
pub struct Shortcut {
    /// 1x1, with the block's stride.
    pub conv: Conv2d,
    /// After `conv`.
    pub norm: Norm,
}

/// The normalisation of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// Batch normalisation.
    Batch,
    /// Group normalisation with this many groups.
    Group(usize),
}

/// A normalisation layer of either kind.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a few dozen in a network")]
pub enum Norm {
    /// Batch normalisation.
    Batch(BatchNorm),
    /// Group normalisation.
    Group(GroupNorm),
}

impl Norm {
    fn new(kind: NormKind, channels: usize, device: &Device) -> Self {
        match kind {
            NormKind::Batch => Self::Batch(BatchNorm::new(channels, device)),
            NormKind::Group(n) => Self::Group(GroupNormConfig::new(n, channels).init(device)),
        }
    }

    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        match self {
            Self::Batch(norm) => norm.forward(x, cx),
            Self::Group(norm) => norm.forward(x),
        }
    }
}

fn conv(channels: [usize; 2], kernel: usize, stride: usize, device: &Device) -> Conv2d {
    let p = kernel / 2;
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .with_padding(PaddingConfig2d::Explicit(p, p, p, p))
        .with_bias(false)
        .with_initializer(Initializer::Zeros)
        .init(device)
}

impl Block {
    fn new([from, to]: [usize; 2], stride: usize, kind: NormKind, device: &Device) -> Self {
        let norm = || Norm::new(kind, to, device);
        Self {
            conv1: conv([from, to], 3, stride, device),
            norm1: norm(),
            conv2: conv([to, to], 3, 1, device),
            norm2: norm(),
            shortcut: (from != to || stride != 1).then(|| Shortcut {
                conv: conv([from, to], 1, stride, device),
                norm: norm(),
            }),
        }
    }

    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        let h = relu(self.norm1.forward(self.conv1.forward(x.clone()), cx));
        let h = self.norm2.forward(self.conv2.forward(h), cx);
        let x = match &self.shortcut {
            Some(s) => s.norm.forward(s.conv.forward(x), cx),
            None => x,
        };
        relu(h + x)
    }
}

impl ResNet18 {
    /// With 64 channels in the first stage.
    pub fn new(task: Task, norm: NormKind, device: &Device) -> Self {
        Self::with_width(64, task, norm, device)
    }

    /// With `width` channels in the first stage.
    pub fn with_width(width: usize, task: Task, norm: NormKind, device: &Device) -> Self {
        let stage = |from: usize, to: usize, stride: usize| {
            vec![
                Block::new([from, to], stride, norm, device),
                Block::new([to, to], 1, norm, device),
            ]
        };
        let [c, ..] = task.input;
        let w = width;
        Self {
            features: ResNetFeatures {
                conv: conv([c, w], 3, 1, device),
                norm: Norm::new(norm, w, device),
                stage1: stage(w, w, 1),
                stage2: stage(w, 2 * w, 2),
                stage3: stage(2 * w, 4 * w, 2),
                stage4: stage(4 * w, 8 * w, 2),
            },
            head: linear(8 * w, task.classes, device),
        }
    }
}

impl Classifier for ResNet18 {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let f = &self.features;
        let stem = relu(f.norm.forward(f.conv.forward(x), cx));
        let stages = [&f.stage1, &f.stage2, &f.stage3, &f.stage4];
        let blocks = stages.into_iter().flatten();
        let h = blocks.fold(stem, |h, block| block.forward(h, cx));
        // The mean of each channel's plane.
        let [batch, channels, height, width] = h.dims();
        let planes: Tensor<3> = h.reshape([batch, channels, height * width]);
        planes.mean_dim(2).reshape([batch, channels])
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}
