//! The convolutional networks of McMahan et al. and of the pfl-research benchmark.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{conv, linear, pool};
use crate::{Encoder, ForwardCx, Headed, Task};

/// The CNN of McMahan et al. 2017 with valid convolutions: conv5x5x32, pool, conv5x5x64, pool,
/// 512, classes. 28x28 inputs leave 4x4x64 = 1024 features.
pub type McMahanCnn = Headed<McMahanFeatures>;

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
        let features = McMahanFeatures {
            conv1: conv([c, 32], 5).init(device),
            conv2: conv([32, 64], 5).init(device),
            fc1: linear(64 * side(h) * side(w), 512, device),
        };
        Self::on(features, 512, task, device)
    }
}

impl Encoder for McMahanFeatures {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let h = pool(relu(self.conv1.forward(x)));
        let h = pool(relu(self.conv2.forward(h)));
        relu(self.fc1.forward(h.flatten::<2>(1, 3)))
    }
}

/// The CIFAR-10 network of the pfl-research benchmark, without dropout: conv3x3x32, conv3x3x64,
/// pool, 128, classes. 32x32 inputs leave 14x14x64 = 12,544 features.
pub type PflCnn = Headed<PflFeatures>;

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
        let features = PflFeatures {
            conv1: conv([c, 32], 3).init(device),
            conv2: conv([32, 64], 3).init(device),
            fc1: linear(64 * side(h) * side(w), 128, device),
        };
        Self::on(features, 128, task, device)
    }
}

impl Encoder for PflFeatures {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let h = relu(self.conv1.forward(x));
        let h = pool(relu(self.conv2.forward(h)));
        relu(self.fc1.forward(h.flatten::<2>(1, 3)))
    }
}
