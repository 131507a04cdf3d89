//! The network of LG-FedAvg's fairness experiment on census data. Liang et al. 2020, section 3.4 and
//! Table 8.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::layers::Mlp;
use crate::{DeepHeaded, Encoder, ForwardCx, Task};

/// A classifier of a table's rows: columns, 32, 32, 32 on a device, and 32, 32, 32, classes of the
/// global network, with ReLUs and dropout of 0.2 between layers; 5,120 and 2,178 parameters for 93
/// columns and two classes. The representation is the third layer as it is, before any ReLU.
///
/// Departs: two logits in place of one.
pub type AdultMlp = DeepHeaded<AdultHidden>;

/// The lower layers of [`AdultMlp`].
#[derive(Module, Debug)]
pub struct AdultHidden {
    /// columns, 32, 32, 32.
    pub mlp: Mlp,
}

/// Probability of dropout after each ReLU.
const DROPOUT: f64 = 0.2;

impl AdultMlp {
    /// For inputs of any shape.
    pub fn new(task: Task, device: &Device) -> Self {
        let columns = task.input.iter().product();
        let mlp = |sizes: &[usize]| Mlp::new(sizes, device).with_dropout(DROPOUT);
        Self {
            features: AdultHidden {
                mlp: mlp(&[columns, 32, 32, 32]),
            },
            head: mlp(&[32, 32, 32, task.classes]),
        }
    }
}

impl Encoder for AdultHidden {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.mlp.forward(x.flatten::<2>(1, 3), cx)
    }
}
