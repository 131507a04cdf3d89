//! The networks of LG-FedAvg's fairness experiment on census data. Liang et al. 2020, section 3.4
//! and Table 8.

use burn::module::Module;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::{Dropout, Mlp};
use crate::{ForwardCx, Function, Network};

/// The shape of an [`AdultMlp`].
#[derive(Clone, Debug, PartialEq)]
pub struct AdultConfig {
    /// Columns of the input: 93 in the paper.
    pub columns: usize,
    /// Units of every hidden layer: 32 in the paper.
    pub units: usize,
    /// Layers from the representation to the logit of the income: 1 of the local classifier
    /// 93-32-32-32-1, 3 of the global network 32-32-32-1.
    pub head: usize,
    /// Protected attributes: race and gender in the paper.
    pub attributes: usize,
    /// Probability of dropout after each ReLU.
    pub dropout: f64,
}

impl Default for AdultConfig {
    fn default() -> Self {
        Self {
            columns: 93,
            units: 32,
            head: 1,
            attributes: 2,
            dropout: 0.2,
        }
    }
}

impl AdultConfig {
    /// The network.
    pub fn init(&self, device: &Device) -> AdultMlp {
        let mlp = |from: usize, hidden: usize, to: usize| {
            let mut sizes = vec![self.units; hidden + 2];
            sizes[0] = from;
            sizes[hidden + 1] = to;
            Mlp::new(&sizes, device).with_dropout(self.dropout)
        };
        AdultMlp {
            features: mlp(self.columns, 2, self.units),
            head: mlp(self.units, self.head - 1, 1),
            adversary: mlp(self.units, 3, self.attributes),
            dropout: Dropout::new(self.dropout),
        }
    }
}

/// A classifier of table rows and an adversary that looks for protected attributes in its
/// representation: the parts `features`, `head` and `adversary`. 5,153 parameters of the classifier
/// 93-32-32-32-1 and 3,234 of the adversary 32-32-32-32-2.
#[derive(Module, Debug)]
pub struct AdultMlp {
    /// To the representation, which is the third layer before its ReLU.
    pub features: Mlp,
    /// From the representation, after its ReLU, to the logit of the label.
    pub head: Mlp,
    /// From the representation to one logit for each protected attribute.
    pub adversary: Mlp,
    dropout: Dropout,
}

impl AdultMlp {
    /// Representations of a batch.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, columns]`
    /// - output: `[batch, units]`
    pub fn features(&self, x: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        self.features.forward(x, cx)
    }

    /// The logit of the label, whose sigmoid is its probability.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, units]`
    /// - output: `[batch, 1]`
    pub fn head(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        let h = self.dropout.forward(relu(h), cx);
        self.head.forward(h, cx)
    }

    /// Logits of the protected attributes.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, units]`
    /// - output: `[batch, attributes]`
    pub fn discriminate(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        self.adversary.forward(h, cx)
    }

    /// The logit of the label of each row.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, columns]`
    /// - output: `[batch, 1]`
    pub fn predict(&self, x: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        self.head(self.features(x, cx), cx)
    }
}

impl Network for AdultMlp {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("predict", Self::predict),
            Function::new("features", Self::features),
            Function::new("head", Self::head),
            Function::new("discriminate", Self::discriminate),
        ]
    }
}
