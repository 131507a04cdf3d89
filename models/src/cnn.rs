//! The convolutional networks of McMahan et al. and of the pfl-research benchmark.

use burn::module::{Initializer, Module};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Linear, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::{Device, Tensor};

use crate::linear::linear;
use crate::{Classifier, ForwardCx, Task};

/// A valid convolution whose parameters are set by the caller's initialisation.
pub(crate) fn conv(channels: [usize; 2], kernel: usize, device: &Device) -> Conv2d {
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_padding(PaddingConfig2d::Valid)
        .with_initializer(Initializer::Zeros)
        .init(device)
}

/// 2x2 max pool, stride 2.
pub(crate) fn pool(x: Tensor<4>) -> Tensor<4> {
    max_pool2d(x, [2, 2], [2, 2], [0, 0], [1, 1], false)
}

/// The CNN of McMahan et al. 2017 with valid convolutions: conv5x5x32, pool, conv5x5x64, pool,
/// 512, classes. 28x28 inputs leave 4x4x64 = 1024 features.
#[derive(Module, Debug)]
pub struct McMahanCnn {
    /// Convolutions and the hidden layer.
    pub features: McMahanFeatures,
    /// `[512, classes]`.
    pub head: Linear,
}

/// Everything of [`McMahanCnn`] but its last layer.
#[derive(Module, Debug)]
pub struct McMahanFeatures {
    /// `[32, channels, 5, 5]`.
    pub conv1: Conv2d,
    /// `[64, 32, 5, 5]`.
    pub conv2: Conv2d,
    /// `[64 · h · w, 512]`.
    pub fc1: Linear,
}

impl McMahanCnn {
    /// For inputs of at least 16x16.
    pub fn new(task: Task, device: &Device) -> Self {
        let [c, h, w] = task.input;
        let side = |n: usize| ((n - 4) / 2 - 4) / 2;
        Self {
            features: McMahanFeatures {
                conv1: conv([c, 32], 5, device),
                conv2: conv([32, 64], 5, device),
                fc1: linear(64 * side(h) * side(w), 512, device),
            },
            head: linear(512, task.classes, device),
        }
    }
}

impl Classifier for McMahanCnn {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let f = &self.features;
        let h = pool(relu(f.conv1.forward(x)));
        let h = pool(relu(f.conv2.forward(h)));
        relu(f.fc1.forward(h.flatten::<2>(1, 3)))
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

/// The CIFAR-10 network of the pfl-research benchmark, without dropout: conv3x3x32, conv3x3x64,
/// pool, 128, classes. 32x32 inputs leave 14x14x64 = 12,544 features.
#[derive(Module, Debug)]
pub struct PflCnn {
    /// Convolutions and the hidden layer.
    pub features: PflFeatures,
    /// `[128, classes]`.
    pub head: Linear,
}

/// Everything of [`PflCnn`] but its last layer.
#[derive(Module, Debug)]
pub struct PflFeatures {
    /// `[32, channels, 3, 3]`.
    pub conv1: Conv2d,
    /// `[64, 32, 3, 3]`.
    pub conv2: Conv2d,
    /// `[64 · h · w, 128]`.
    pub fc1: Linear,
}

impl PflCnn {
    /// For inputs of at least 6x6.
    pub fn new(task: Task, device: &Device) -> Self {
        let [c, h, w] = task.input;
        let side = |n: usize| (n - 4) / 2;
        Self {
            features: PflFeatures {
                conv1: conv([c, 32], 3, device),
                conv2: conv([32, 64], 3, device),
                fc1: linear(64 * side(h) * side(w), 128, device),
            },
            head: linear(128, task.classes, device),
        }
    }
}

impl Classifier for PflCnn {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let f = &self.features;
        let h = relu(f.conv1.forward(x));
        let h = pool(relu(f.conv2.forward(h)));
        relu(f.fc1.forward(h.flatten::<2>(1, 3)))
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}
