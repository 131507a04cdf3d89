//! Encoders, which compute a representation, and classifiers on top of an encoder.

use burn::module::{Module, ModuleDisplay};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use crate::layers::linear;
use crate::{Classifier, ForwardCx, Task};

/// A network from images to representations, on which heads of several kinds stand: one linear
/// layer in [`Headed`], a projection and a predictor in [`Moon`](crate::Moon) and
/// [`SimSiam`](crate::SimSiam).
pub trait Encoder: Module + ModuleDisplay + Sync + 'static {
    /// Representations of a batch.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, features]`
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2>;
}

/// An encoder with a linear classifier: the parts `features` and `head`.
#[derive(Module, Debug)]
pub struct Headed<E: Encoder> {
    /// Everything but the last layer.
    pub features: E,
    /// `[features, classes]`.
    pub head: Linear,
}

impl<E: Encoder> Headed<E> {
    /// A classifier on an encoder of so many features.
    pub fn on(features: E, width: usize, task: Task, device: &Device) -> Self {
        Self {
            features,
            head: linear(width, task.classes, device),
        }
    }
}

impl<E: Encoder> Classifier for Headed<E> {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.features.features(x, cx)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}
