//! The networks of LG-FedAvg. Liang et al. 2020, "Think Locally, Act Globally",
//! <https://arxiv.org/abs/2001.01523>, sections 3.1 and 3.3 and the authors' code.

use burn::module::Module;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{Mlp, conv, pool};
use crate::{Classifier, Encoder, ForwardCx, Task};

/// An encoder with a classifier of several layers: the parts `features` and `head`.
#[derive(Module, Debug)]
pub struct DeepHeaded<E: Encoder> {
    /// The lower layers.
    pub features: E,
    /// The upper layers, from representations to logits.
    pub head: Mlp,
}

impl<E: Encoder> Classifier for DeepHeaded<E> {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.features.features(x, cx)
    }

    fn head(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        self.head.forward(h, cx)
    }
}

/// The LeNet-5 of the CIFAR-10 experiments: conv5x5x6, pool, conv5x5x16, pool, 120, 100, classes;
/// 64,102 parameters for 10 classes. The two convolutions are the part `features`, of 2,872: the
/// ones that the paper's run averages, against the paper's own picture of local layers below
/// global ones.
pub type LgLeNet5 = DeepHeaded<LgConvolutions>;

/// The convolutions of [`LgLeNet5`].
#[derive(Module, Debug)]
pub struct LgConvolutions {
    /// `[6, channels, 5, 5]`.
    pub conv1: Conv2d,
    /// `[16, 6, 5, 5]`.
    pub conv2: Conv2d,
}

impl LgLeNet5 {
    /// For inputs of at least 16x16.
    pub fn new(task: Task, device: &Device) -> Self {
        let [c, h, w] = task.input;
        let side = |n: usize| ((n - 4) / 2 - 4) / 2;
        Self {
            features: LgConvolutions {
                conv1: conv([c, 6], 5).init(device),
                conv2: conv([6, 16], 5).init(device),
            },
            head: Mlp::new(&[16 * side(h) * side(w), 120, 100, task.classes], device),
        }
    }
}

impl Encoder for LgConvolutions {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let h = pool(relu(self.conv1.forward(x)));
        pool(relu(self.conv2.forward(h))).flatten(1, 3)
    }
}

/// The network of the MNIST experiments: 784, 512, 256, 256, 128, classes; 633,226 parameters for
/// 10 classes. The last three layers are the part `head`, of 99,978: the global ones.
pub type LgMlp = DeepHeaded<LgHidden>;

/// The lower layers of [`LgMlp`].
#[derive(Module, Debug)]
pub struct LgHidden {
    /// `input`, 512, 256.
    pub mlp: Mlp,
}

impl LgMlp {
    /// For inputs of any shape.
    pub fn new(task: Task, device: &Device) -> Self {
        let input = task.input.iter().product();
        Self {
            features: LgHidden {
                mlp: Mlp::new(&[input, 512, 256], device),
            },
            head: Mlp::new(&[256, 256, 128, task.classes], device),
        }
    }
}

impl Encoder for LgHidden {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        relu(self.mlp.forward(x.flatten::<2>(1, 3), cx))
    }
}
