//! Models of fully connected layers.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::linear;
use crate::{Classifier, Encoder, ForwardCx, Headed, Task};

/// Multinomial logistic regression: one linear layer.
#[derive(Module, Debug)]
pub struct Logistic {
    /// `[input, classes]`.
    pub head: Linear,
}

impl Logistic {
    /// For inputs of any shape.
    pub fn new(task: Task, device: &Device) -> Self {
        Self {
            head: linear(task.input.iter().product(), task.classes, device),
        }
    }
}

impl Classifier for Logistic {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        x.flatten(1, 3)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

/// `2NN` of McMahan et al. 2017: two hidden layers of 200 units.
pub type TwoNn = Headed<TwoNnFeatures>;

/// The hidden layers of [`TwoNn`].
#[derive(Module, Debug)]
pub struct TwoNnFeatures {
    /// `[input, 200]`.
    pub fc1: Linear,
    /// `[200, 200]`.
    pub fc2: Linear,
}

impl TwoNn {
    /// For inputs of any shape.
    pub fn new(task: Task, device: &Device) -> Self {
        let features = TwoNnFeatures {
            fc1: linear(task.input.iter().product(), 200, device),
            fc2: linear(200, 200, device),
        };
        Self::on(features, 200, task, device)
    }
}

impl Encoder for TwoNnFeatures {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let h = relu(self.fc1.forward(x.flatten::<2>(1, 3)));
        relu(self.fc2.forward(h))
    }
}
