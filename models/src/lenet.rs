//! LeNet-5 with ReLU and max pools.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{conv, linear, pool};
use crate::{Encoder, ForwardCx, Headed, Task};

/// LeNet-5: conv5x5x6, pool, conv5x5x16, pool, 120, 84, classes; valid convolutions.
/// 28x28 inputs leave 4x4x16 = 256 features, 32x32 inputs 5x5x16 = 400.
pub type LeNet5 = Headed<LeNetFeatures>;

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
        let features = LeNetFeatures {
            conv1: conv([c, 6], 5).init(device),
            conv2: conv([6, 16], 5).init(device),
            fc1: linear(16 * side(h) * side(w), 120, device),
            fc2: linear(120, 84, device),
        };
        Self::on(features, 84, task, device)
    }
}

impl Encoder for LeNetFeatures {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let h = pool(relu(self.conv1.forward(x)));
        let h = pool(relu(self.conv2.forward(h)));
        let h = relu(self.fc1.forward(h.flatten::<2>(1, 3)));
        relu(self.fc2.forward(h))
    }
}
