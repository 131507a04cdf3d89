//! Models of fully connected layers.

use burn::module::{Initializer, Module};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::{Classifier, ForwardCx, Task};

/// A linear layer whose parameters are set by the caller's initialisation.
pub(crate) fn linear(d_in: usize, d_out: usize, device: &Device) -> Linear {
    LinearConfig::new(d_in, d_out)
        .with_initializer(Initializer::Zeros)
        .init(device)
}

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
#[derive(Module, Debug)]
pub struct TwoNn {
    /// The hidden layers.
    pub features: TwoNnFeatures,
    /// `[200, classes]`.
    pub head: Linear,
}

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
        Self {
            features: TwoNnFeatures {
                fc1: linear(task.input.iter().product(), 200, device),
                fc2: linear(200, 200, device),
            },
            head: linear(200, task.classes, device),
        }
    }
}

impl Classifier for TwoNn {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let h = relu(self.features.fc1.forward(x.flatten::<2>(1, 3)));
        relu(self.features.fc2.forward(h))
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}
