//! Residual networks. He et al. 2016, <https://arxiv.org/abs/1512.03385>.

mod block;

use burn::module::Module;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{Device, Tensor};

use crate::layers::{Norm, NormKind, conv_no_bias, plane_means};
use crate::{Encoder, ForwardCx, Headed, Task};

pub use block::{Block, BlockKind, ConvNorm};

/// A residual network with a linear classifier.
pub type ResNet = Headed<ResNetFeatures>;

/// The first layers of a residual network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stem {
    /// A 3x3 convolution of stride 1 and no pool, as usual for 32x32 images.
    Small,
    /// A 7x7 convolution of stride 2 and a 3x3 max pool of stride 2, for 224x224 images.
    ImageNet,
}

/// The shape of a residual network.
///
/// # Examples
///
/// ResNet-50 with the ImageNet stem and group normalisation:
///
/// ```
/// use burn::tensor::Device;
/// use fedround_models::layers::NormKind;
/// use fedround_models::{ResNetConfig, Stem, Task};
///
/// let config = ResNetConfig {
///     stem: Stem::ImageNet,
///     norm: NormKind::Group(32),
///     ..ResNetConfig::resnet50()
/// };
/// let task = Task { input: [3, 64, 64], classes: 10 };
/// let model = config.init(task, &Device::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResNetConfig {
    /// First layers.
    pub stem: Stem,
    /// Kind of the blocks.
    pub block: BlockKind,
    /// Blocks of each of the four stages.
    pub depths: [usize; 4],
    /// Channels of the stem and inside the first stage's blocks.
    pub width: usize,
    /// Normalisation after each convolution.
    pub norm: NormKind,
}

impl ResNetConfig {
    /// ResNet-18 for small images, with batch normalisation: 11,173,962 trained parameters for 3
    /// channels and 10 classes.
    pub fn resnet18() -> Self {
        Self {
            stem: Stem::Small,
            block: BlockKind::Basic,
            depths: [2, 2, 2, 2],
            width: 64,
            norm: NormKind::Batch,
        }
    }

    /// ResNet-50 for small images, with batch normalisation: 23,520,842 trained parameters for 3
    /// channels and 10 classes.
    pub fn resnet50() -> Self {
        Self {
            block: BlockKind::Bottleneck,
            depths: [3, 4, 6, 3],
            ..Self::resnet18()
        }
    }

    /// Size of a representation: 512 of ResNet-18, 2048 of ResNet-50.
    pub fn features(&self) -> usize {
        8 * self.width * self.block.expansion()
    }

    /// The network with a linear classifier.
    pub fn init(&self, task: Task, device: &Device) -> ResNet {
        let encoder = self.encoder(task.input[0], device);
        ResNet::on(encoder, self.features(), task, device)
    }

    /// The network without a classifier, for inputs of `channels` channels.
    pub fn encoder(&self, channels: usize, device: &Device) -> ResNetFeatures {
        let w = self.width;
        let stage = |i: usize| {
            let width = w << i;
            let to = width * self.block.expansion();
            let first = match i {
                0 => ([w, width], 1),
                _ => ([to / 2, width], 2),
            };
            let rest = (1..self.depths[i]).map(|_| ([to, width], 1));
            let block =
                |(channels, stride)| Block::new(self.block, channels, stride, self.norm, device);
            std::iter::once(first).chain(rest).map(block).collect()
        };
        let conv = match self.stem {
            Stem::Small => conv_no_bias([channels, w], 3, 1, 1, device),
            Stem::ImageNet => conv_no_bias([channels, w], 7, 2, 3, device),
        };
        ResNetFeatures {
            conv,
            norm: Norm::new(self.norm, w, device),
            stage1: stage(0),
            stage2: stage(1),
            stage3: stage(2),
            stage4: stage(3),
            pools: self.stem == Stem::ImageNet,
        }
    }
}

/// Everything of [`ResNet`] but its last layer: the stem and four stages of blocks. From the second
/// on, a stage halves the image's sides and doubles the channels.
#[derive(Module, Debug)]
pub struct ResNetFeatures {
    /// The stem's convolution.
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
    pools: bool,
}

impl ResNetFeatures {
    /// What the last stage sees of each place of the image.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, features, height / 8, width / 8]`, of a quarter of the sides with
    ///   [`Stem::ImageNet`]
    pub fn maps(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        let stem = relu(self.norm.forward(self.conv.forward(x), cx));
        let stem = if self.pools {
            let options = MaxPoolOptions::new([3, 3]);
            max_pool2d(stem, options.with_stride([2, 2]).with_padding([1, 1]))
        } else {
            stem
        };
        let stages = [&self.stage1, &self.stage2, &self.stage3, &self.stage4];
        let blocks = stages.into_iter().flatten();
        blocks.fold(stem, |h, block| block.forward(h, cx))
    }
}

impl Encoder for ResNetFeatures {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        plane_means(self.maps(x, cx))
    }
}
