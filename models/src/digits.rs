//! FedBN's network for digits. Li et al. 2021, Appendix D, <https://arxiv.org/abs/2102.07623>.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{Norm, NormKind, conv, linear, pool, same};
use crate::{Encoder, ForwardCx, Headed, Task};

/// The shape of FedBN's network: three 5x5 convolutions and two fully connected layers, each with a
/// normalisation and a ReLU, pools after the first two, and a classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigitsConfig {
    /// Channels of the convolutions: 64, 64 and 128 in the paper.
    pub channels: [usize; 3],
    /// Units of the fully connected layers: 2048 and 512 in the paper.
    pub units: [usize; 2],
    /// Normalisation after each layer but the last: of batches in the paper.
    pub norm: NormKind,
}

impl Default for DigitsConfig {
    fn default() -> Self {
        Self {
            channels: [64, 64, 128],
            units: [2048, 512],
            norm: NormKind::Batch,
        }
    }
}

impl DigitsConfig {
    /// The network, for inputs of at least 4x4.
    pub fn init(&self, task: Task, device: &Device) -> DigitsCnn {
        let [channels, h, w] = task.input;
        let [a, b, c] = self.channels;
        let [first, second] = self.units;
        let norm = |n| Norm::new(self.norm, n, device);
        let conv = |from, to| conv([from, to], 5).with_padding(same(2)).init(device);
        let features = DigitsFeatures {
            conv1: conv(channels, a),
            norm1: norm(a),
            conv2: conv(a, b),
            norm2: norm(b),
            conv3: conv(b, c),
            norm3: norm(c),
            fc1: linear(c * (h / 4) * (w / 4), first, device),
            norm4: norm(first),
            fc2: linear(first, second, device),
            norm5: norm(second),
        };
        DigitsCnn::on(features, second, task, device)
    }
}

/// FedBN's network, see [`DigitsConfig`]: 14,219,210 trained parameters for 28x28 colour images and
/// 10 classes. ADCOL (Appendix B.16) uses it, too.
pub type DigitsCnn = Headed<DigitsFeatures>;

/// Everything of [`DigitsCnn`] but its last layer.
#[derive(Module, Debug)]
pub struct DigitsFeatures {
    /// 5x5, padded.
    pub conv1: Conv2d,
    /// After `conv1`.
    pub norm1: Norm,
    /// 5x5, padded.
    pub conv2: Conv2d,
    /// After `conv2`.
    pub norm2: Norm,
    /// 5x5, padded.
    pub conv3: Conv2d,
    /// After `conv3`.
    pub norm3: Norm,
    /// From all pixels.
    pub fc1: Linear,
    /// After `fc1`.
    pub norm4: Norm,
    /// To the representation.
    pub fc2: Linear,
    /// After `fc2`.
    pub norm5: Norm,
}

impl Encoder for DigitsFeatures {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let h = self.conv1.forward(x);
        let h = pool(relu(self.norm1.forward(h, cx)));
        let h = self.conv2.forward(h);
        let h = pool(relu(self.norm2.forward(h, cx)));
        let h = self.conv3.forward(h);
        let h = relu(self.norm3.forward(h, cx)).flatten::<2>(1, 3);
        let h = self.fc1.forward(h);
        let h = relu(self.norm4.forward(h, cx));
        let h = self.fc2.forward(h);
        relu(self.norm5.forward(h, cx))
    }
}
