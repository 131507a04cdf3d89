//! LeNet-5 with ReLU and max pools.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::cnn::{conv, pool};
use crate::linear::linear;
use crate::{Classifier, ForwardCx, Task};

/// LeNet-5: conv5x5x6, pool, conv5x5x16, pool, 120, 84, classes; valid convolutions.
/// 28x28 inputs leave 4x4x16 = 256 features, 32x32 inputs 5x5x16 = 400.
#[derive(Module, Debug)]
pub struct LeNet5 {
    /// Convolutions and hidden layers.
    pub features: LeNetFeatures,
    /// `[84, classes]`.
    pub head: Linear,
}

/// Everything of [`LeNet5`] but its last layer.
#[derive(Module, Debug)]
pub struct LeNetFeatures {
    /// `[6, channels, 5, 5]`.
    pub conv1: Conv2d,
    /// `[16, 6, 5, 5]`.
    pub conv2: Conv2d,
    /// `[16 · h · w, 120]`.
    pub fc1: Linear,
    /// `[120, 84]`.
    pub fc2: Linear,
}

impl LeNet5 {
    /// For inputs of at least 16x16.
    pub fn new(task: Task, device: &Device) -> Self {
        let [c, h, w] = task.input;
        let side = |n: usize| ((n - 4) / 2 - 4) / 2;
        Self {
            features: LeNetFeatures {
                conv1: conv([c, 6], 5, device),
                conv2: conv([6, 16], 5, device),
                fc1: linear(16 * side(h) * side(w), 120, device),
                fc2: linear(120, 84, device),
            },
            head: linear(84, task.classes, device),
        }
    }
}

impl Classifier for LeNet5 {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let f = &self.features;
        let h = pool(relu(f.conv1.forward(x)));
        let h = pool(relu(f.conv2.forward(h)));
        let h = relu(f.fc1.forward(h.flatten::<2>(1, 3)));
        relu(f.fc2.forward(h))
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}
