//! Fully connected networks: linear layers with activations between them.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::{Dropout, linear};
use crate::ForwardCx;

/// Linear layers, with a ReLU and, in training, dropout between each two. Nothing follows the last.
///
/// # Examples
///
/// The discriminator of ADCOL for five parties, and one with dropout:
///
/// ```
/// use burn::tensor::Device;
/// use fedround_models::layers::Mlp;
///
/// let device = Device::default();
/// let discriminator = Mlp::new(&[2048, 512, 512, 5], &device);
/// let adversary = Mlp::new(&[32, 32, 2], &device).with_dropout(0.2);
/// ```
#[derive(Module, Debug)]
pub struct Mlp {
    /// `[sizes[i], sizes[i + 1]]`.
    pub layers: Vec<Linear>,
    dropout: Dropout,
    relu: bool,
}

impl Mlp {
    /// From `sizes[0]` inputs over hidden layers to the last size's outputs.
    pub fn new(sizes: &[usize], device: &Device) -> Self {
        let layers = sizes.windows(2).map(|s| linear(s[0], s[1], device));
        Self {
            layers: layers.collect(),
            dropout: Dropout::new(0.0),
            relu: true,
        }
    }

    /// With dropout of probability `p` after each ReLU.
    ///
    /// # Panics
    ///
    /// `p` is not in `[0, 1)`.
    #[must_use]
    pub fn with_dropout(self, p: f64) -> Self {
        Self {
            dropout: Dropout::new(p),
            ..self
        }
    }

    /// Without ReLUs: a linear map in several factors.
    #[must_use]
    pub fn without_relu(self) -> Self {
        Self {
            relu: false,
            ..self
        }
    }

    /// Outputs of a batch.
    ///
    /// # Shapes
    ///
    /// - `x`: `[.., sizes[0]]`
    /// - output: `[.., sizes[last]]`
    pub fn forward<const D: usize>(&self, x: Tensor<D>, cx: &ForwardCx) -> Tensor<D> {
        let layers = self.layers.iter().enumerate();
        layers.fold(x, |h, (i, layer)| {
            let h = if i == 0 { h } else { self.between(h, cx) };
            layer.forward(h)
        })
    }

    /// What stands between two layers.
    fn between<const D: usize>(&self, h: Tensor<D>, cx: &ForwardCx) -> Tensor<D> {
        let h = if self.relu { relu(h) } else { h };
        self.dropout.forward(h, cx)
    }
}
