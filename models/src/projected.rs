//! Encoders with projections, as MOON and ADCOL train them.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{BatchNorm, Mlp, linear, linear_no_bias};
use crate::{Encoder, ForwardCx, Function, Network, Task};

/// The network of MOON: an encoder, a projection of two layers to `z`, which the contrastive loss
/// compares, and a linear classifier of `z`. Li et al. 2021, section 3.2,
/// <https://arxiv.org/abs/2103.16257>.
#[derive(Module, Debug)]
pub struct Moon<E: Encoder> {
    /// The base encoder.
    pub features: E,
    /// Two layers with a ReLU between them.
    pub projector: Mlp,
    /// `[z, classes]`.
    pub head: Linear,
}

impl<E: Encoder> Moon<E> {
    /// On an encoder of so many features, with `z` of size `z`: 256 in the paper.
    pub fn new(features: E, width: usize, z: usize, task: Task, device: &Device) -> Self {
        Self {
            features,
            projector: Mlp::new(&[width, width, z], device),
            head: linear(z, task.classes, device),
        }
    }

    /// The paper's `R_w(x)`.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, z]`
    pub fn project(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.projector.forward(self.features.features(x, cx), cx)
    }

    /// Logits of projections.
    ///
    /// # Shapes
    ///
    /// - `z`: `[batch, z]`
    /// - output: `[batch, classes]`
    pub fn head(&self, z: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(z)
    }

    /// Logits of a batch of images.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    pub fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.head(self.project(x, cx), cx)
    }
}

impl<E: Encoder> Network for Moon<E> {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", Self::forward),
            Function::new("project", Self::project),
            Function::new("head", Self::head),
        ]
    }
}

/// The local network of ADCOL, in the style of SimSiam: an encoder, a projector of three normalised
/// layers to the representation that parties upload, and a predictor of the classes. "Adversarial
/// Collaborative Learning on Non-IID Features", section 5.1.
///
/// With [`ResNetConfig::resnet50`](crate::ResNetConfig::resnet50), the ImageNet stem and 10 classes
/// 37,157,962 trained parameters. Layers before a normalisation have no bias, and the projector's
/// input is of the encoder's 2048 features: the paper's costs per round come from these, not from
/// the input of 4096 of its text.
#[derive(Module, Debug)]
pub struct SimSiam<E: Encoder> {
    /// The base encoder.
    pub features: E,
    /// To the representation.
    pub projector: Projector,
    /// To the logits.
    pub predictor: Predictor,
}

/// Three linear layers, each normalised, with ReLUs between them.
#[derive(Module, Debug)]
pub struct Projector {
    /// `[width, width]`, without biases.
    pub layers: Vec<Linear>,
    /// After each layer.
    pub norms: Vec<BatchNorm>,
}

/// A bottleneck and a classifier.
#[derive(Module, Debug)]
pub struct Predictor {
    /// `[width, bottleneck]`, without a bias.
    pub hidden: Linear,
    /// After `hidden`.
    pub norm: BatchNorm,
    /// `[bottleneck, classes]`.
    pub head: Linear,
}

impl Projector {
    fn forward(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        let layers = self.layers.iter().zip(&self.norms).enumerate();
        layers.fold(h, |h, (i, (layer, norm))| {
            let h = if i == 0 { h } else { relu(h) };
            norm.forward(layer.forward(h), cx)
        })
    }
}

impl<E: Encoder> SimSiam<E> {
    /// On an encoder of so many features, which is the size of a representation, too, with a
    /// predictor of `bottleneck` hidden units: 2048 and 512 in the paper.
    pub fn new(features: E, width: usize, bottleneck: usize, task: Task, device: &Device) -> Self {
        let layer = |_| linear_no_bias(width, width, device);
        Self {
            features,
            projector: Projector {
                layers: (0..3).map(layer).collect(),
                norms: (0..3).map(|_| BatchNorm::new(width, device)).collect(),
            },
            predictor: Predictor {
                hidden: linear_no_bias(width, bottleneck, device),
                norm: BatchNorm::new(bottleneck, device),
                head: linear(bottleneck, task.classes, device),
            },
        }
    }

    /// The paper's `G(x)`: what parties upload and discriminators judge.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, features]`
    pub fn project(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.projector.forward(self.features.features(x, cx), cx)
    }

    /// Logits of representations.
    ///
    /// # Shapes
    ///
    /// - `z`: `[batch, features]`
    /// - output: `[batch, classes]`
    pub fn head(&self, z: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        let p = &self.predictor;
        let h = relu(p.norm.forward(p.hidden.forward(z), cx));
        p.head.forward(h)
    }

    /// Logits of a batch of images.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    pub fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.head(self.project(x, cx), cx)
    }
}

impl<E: Encoder> Network for SimSiam<E> {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", Self::forward),
            Function::new("project", Self::project),
            Function::new("head", Self::head),
        ]
    }
}
