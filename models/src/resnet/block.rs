//! Residual blocks: convolutions whose input is added to their output.

use burn::module::Module;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::ForwardCx;
use crate::layers::{Norm, NormKind, conv_no_bias};

/// A residual block: convolutions and a shortcut around them, with a ReLU after their sum.
#[derive(Module, Debug)]
pub struct Block {
    /// 3x3 with the block's stride; 1x1 in a bottleneck.
    pub conv1: Conv2d,
    /// After `conv1`.
    pub norm1: Norm,
    /// 3x3; with the block's stride in a bottleneck.
    pub conv2: Conv2d,
    /// After `conv2`.
    pub norm2: Norm,
    /// 1x1, to four times the channels, in a bottleneck.
    pub expand: Option<ConvNorm>,
    /// 1x1 where the shape changes, else the identity.
    pub shortcut: Option<ConvNorm>,
}

/// A convolution and its normalisation.
#[derive(Module, Debug)]
pub struct ConvNorm {
    /// Without a bias.
    pub conv: Conv2d,
    /// After `conv`.
    pub norm: Norm,
}

impl ConvNorm {
    /// A 1x1 convolution.
    fn point(channels: [usize; 2], stride: usize, norm: NormKind, device: &Device) -> Self {
        Self {
            conv: conv_no_bias(channels, 1, stride, 0, device),
            norm: Norm::new(norm, channels[1], device),
        }
    }

    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        self.norm.forward(self.conv.forward(x), cx)
    }
}

/// The kind of the blocks of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Two 3x3 convolutions.
    Basic,
    /// 1x1, 3x3 and 1x1 to four times the channels. The 3x3 has the stride, as in torchvision.
    Bottleneck,
}

impl BlockKind {
    /// Output channels for each channel inside.
    pub(super) fn expansion(self) -> usize {
        match self {
            Self::Basic => 1,
            Self::Bottleneck => 4,
        }
    }
}

impl Block {
    /// From `from` channels to `width` times the kind's expansion.
    pub(super) fn new(
        kind: BlockKind,
        [from, width]: [usize; 2],
        stride: usize,
        norm: NormKind,
        device: &Device,
    ) -> Self {
        let to = width * kind.expansion();
        let (conv1, conv2) = match kind {
            BlockKind::Basic => (
                conv_no_bias([from, width], 3, stride, 1, device),
                conv_no_bias([width, width], 3, 1, 1, device),
            ),
            BlockKind::Bottleneck => (
                conv_no_bias([from, width], 1, 1, 0, device),
                conv_no_bias([width, width], 3, stride, 1, device),
            ),
        };
        let bottleneck = kind == BlockKind::Bottleneck;
        let reshapes = from != to || stride != 1;
        Self {
            conv1,
            norm1: Norm::new(norm, width, device),
            conv2,
            norm2: Norm::new(norm, width, device),
            expand: bottleneck.then(|| ConvNorm::point([width, to], 1, norm, device)),
            shortcut: reshapes.then(|| ConvNorm::point([from, to], stride, norm, device)),
        }
    }

    pub(super) fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<4> {
        let h = relu(self.norm1.forward(self.conv1.forward(x.clone()), cx));
        let h = self.norm2.forward(self.conv2.forward(h), cx);
        let h = match &self.expand {
            Some(expand) => expand.forward(relu(h), cx),
            None => h,
        };
        let x = match &self.shortcut {
            Some(shortcut) => shortcut.forward(x, cx),
            None => x,
        };
        relu(h + x)
    }
}
