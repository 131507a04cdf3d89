//! Soft attention over the places of an image (Xu et al. 2015).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Device, Tensor};

use crate::layers::linear;

/// Additive attention over the places of an image. Xu et al. 2015, Eqs. (4), (5) and (13), where
/// the score `f_att` is a network of one hidden layer with ReLUs.
#[derive(Module, Debug)]
pub struct Attention {
    /// From a place.
    pub place: Linear,
    /// From the decoder's state.
    pub state: Linear,
    /// To the score.
    pub score: Linear,
}

impl Attention {
    /// Over places of `features` numbers by a state of `units`, with so many hidden units.
    pub fn new(features: usize, units: usize, hidden: usize, device: &Device) -> Self {
        Self {
            place: linear(features, hidden, device),
            state: linear(units, hidden, device),
            score: linear(hidden, 1, device),
        }
    }

    /// The weight of each place; an image's sum is 1.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    /// - `state`: `[batch, units]`
    /// - output: `[batch, places]`
    pub fn weights(&self, places: Tensor<3>, state: Tensor<2>) -> Tensor<2> {
        let [batch, n, _] = places.dims();
        let state: Tensor<3> = self.state.forward(state).unsqueeze_dim(1);
        let hidden = relu(self.place.forward(places) + state);
        softmax(self.score.forward(hidden).reshape([batch, n]), 1)
    }

    /// The weighted mean of the places.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    /// - `weights`: `[batch, places]`
    /// - output: `[batch, features]`
    pub fn seen(&self, places: Tensor<3>, weights: Tensor<2>) -> Tensor<2> {
        let [batch, n, features] = places.dims();
        let seen: Tensor<3> = weights.reshape([batch, 1, n]).matmul(places);
        seen.reshape([batch, features])
    }
}
