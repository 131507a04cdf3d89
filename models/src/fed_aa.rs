//! The image classifier and the client identifier of FedAA ("Using Non-sensitive Modality to Solve
//! Non-IID Puzzles in Federated Learning"), section 4.1.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{Mlp, Norm, NormKind, conv, linear, pool};
use crate::{Encoder, ForwardCx, Headed, Task};

/// The shape of FedAA's classifier: two convolutions, two fully connected layers, classes.
///
/// Departs: the paper gives the numbers of filters alone. Kernels, pools and the widths of the
/// fully connected layers are ours; the normalisation, which the paper's comparison with FedBN
/// needs, is an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FedAaConfig {
    /// Filters of the two 5x5 convolutions: 64 and 256 in the paper.
    pub filters: [usize; 2],
    /// Units of the two fully connected layers.
    pub units: [usize; 2],
    /// Normalisation after each convolution.
    pub norm: Option<NormKind>,
}

impl Default for FedAaConfig {
    fn default() -> Self {
        Self {
            filters: [64, 256],
            units: [512, 256],
            norm: None,
        }
    }
}

impl FedAaConfig {
    /// The classifier, for inputs of at least 16x16.
    pub fn init(&self, task: Task, device: &Device) -> FedAaCnn {
        let [c, h, w] = task.input;
        let [a, b] = self.filters;
        let [first, second] = self.units;
        let side = |n: usize| ((n - 4) / 2 - 4) / 2;
        let norm = |channels| self.norm.map(|kind| Norm::new(kind, channels, device));
        let features = FedAaFeatures {
            conv1: conv([c, a], 5).init(device),
            norm1: norm(a),
            conv2: conv([a, b], 5).init(device),
            norm2: norm(b),
            fc1: linear(b * side(h) * side(w), first, device),
            fc2: linear(first, second, device),
        };
        FedAaCnn::on(features, second, task, device)
    }
}

/// FedAA's classifier, see [`FedAaConfig`]: 3,825,930 parameters for 32x32 colour images and 10
/// classes.
pub type FedAaCnn = Headed<FedAaFeatures>;

/// Everything of [`FedAaCnn`] but its last layer: the paper's `F`.
#[derive(Module, Debug)]
pub struct FedAaFeatures {
    /// 5x5, valid.
    pub conv1: Conv2d,
    /// After `conv1`.
    pub norm1: Option<Norm>,
    /// 5x5, valid.
    pub conv2: Conv2d,
    /// After `conv2`.
    pub norm2: Option<Norm>,
    /// From all pixels of the second pool.
    pub fc1: Linear,
    /// To the representation.
    pub fc2: Linear,
}

impl Encoder for FedAaFeatures {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let layer = |conv: &Conv2d, norm: &Option<Norm>, x| {
            let h = conv.forward(x);
            let h = norm.iter().fold(h, |h, norm| norm.forward(h, cx));
            pool(relu(h))
        };
        let h = layer(&self.conv1, &self.norm1, x);
        let h = layer(&self.conv2, &self.norm2, h);
        let h = relu(self.fc1.forward(h.flatten::<2>(1, 3)));
        relu(self.fc2.forward(h))
    }
}

/// The client identifier `I`: three layers with 512 hidden units, from a representation to the
/// logit of "comes from this client". Its sigmoid is the paper's probability.
pub fn identifier(features: usize, device: &Device) -> Mlp {
    Mlp::new(&[features, 512, 512, 1], device)
}
