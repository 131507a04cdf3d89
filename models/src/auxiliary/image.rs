//! Decoders from representations to images.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::layers::Mlp;
use crate::{ForwardCx, Function, Network};

/// The decoder of an autoencoder whose encoder is the classifier's representation: a local task of
/// LG-FedAvg (Liang et al. 2020), among the self-supervised ones.
///
/// Departs: the paper names the task alone; one hidden layer of 512 is ours, and pixels are of any
/// size, as normalised images have them.
#[derive(Module, Debug)]
pub struct ImageDecoder {
    /// `features`, 512, pixels.
    pub mlp: Mlp,
    image: [usize; 3],
}

impl ImageDecoder {
    /// The network for images of a shape.
    pub fn new(features: usize, image: [usize; 3], device: &Device) -> Self {
        let pixels = image.iter().product();
        Self {
            mlp: Mlp::new(&[features, 512, pixels], device),
            image,
        }
    }

    /// Images of representations.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, features]`
    /// - output: `[batch, channels, height, width]`
    pub fn decode(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<4> {
        let [batch, _] = h.dims();
        let [c, height, width] = self.image;
        self.mlp.forward(h, cx).reshape([batch, c, height, width])
    }
}

impl Network for ImageDecoder {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("decode", Self::decode)]
    }
}
