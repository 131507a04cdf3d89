//! Next characters of a text, as in McMahan et al. 2017 (section 3, Shakespeare).

use burn::module::Module;
use burn::nn::{Embedding, Linear};
use burn::tensor::{Device, Int, Tensor};

use crate::layers::{Lstm, LstmState, embedding, linear};
use crate::{ForwardCx, Function, Network, Objective, Task};

/// A stacked character LSTM: vectors of 8 numbers for characters, two layers of 256 units, and a linear layer to
/// the next character. The parts are `features` and `head`.
///
/// The data has the characters as a column `tokens` of ids, and the next character as the label. Both have the
/// classes of the task.
///
/// Departs: only the character after the last one is predicted, as in LEAF's version of the task; the paper
/// predicts one after each character.
#[derive(Module, Debug)]
pub struct CharLstm {
    /// From characters to the output of the last layer after the last character.
    pub features: CharFeatures,
    /// `[units, classes]`.
    pub head: Linear,
}

/// Vectors of characters and LSTM layers over them.
#[derive(Module, Debug)]
pub struct CharFeatures {
    /// `[classes, 8]`.
    pub embedding: Embedding,
    /// Over the characters.
    pub lower: Lstm,
    /// Over the outputs of the first.
    pub upper: Lstm,
}

impl CharLstm {
    /// The paper's, for the characters of a task.
    pub fn new(task: Task, device: &Device) -> Self {
        Self::sized(task, [8, 256], device)
    }

    /// The same with vectors of `size` numbers and layers of `units`.
    pub fn sized(task: Task, [size, units]: [usize; 2], device: &Device) -> Self {
        Self {
            features: CharFeatures {
                embedding: embedding(task.classes, size, device),
                lower: Lstm::new(size, units, device),
                upper: Lstm::new(units, units, device),
            },
            head: linear(units, task.classes, device),
        }
    }

    /// The output of the last layer after the last character.
    ///
    /// # Shapes
    ///
    /// - `x` is not looked at
    /// - `tokens`: `[batch, steps]`
    /// - output: `[batch, units]`
    pub fn features(&self, _: Tensor<4>, tokens: Tensor<2, Int>, _: &ForwardCx) -> Tensor<2> {
        let CharFeatures {
            embedding,
            lower,
            upper,
        } = &self.features;
        let [batch, _] = tokens.dims();
        let [units, _] = lower.weight_hh.dims();
        let x = embedding.forward(tokens);
        let start = LstmState::zeros(batch, units, &x.device());
        let (h, _) = lower.forward(x, start.clone());
        let (_, last) = upper.forward(h, start);
        last.hidden
    }

    /// Logits of the next character.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, units]`
    /// - output: `[batch, classes]`
    pub fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }

    /// Logits of the next character.
    ///
    /// # Shapes
    ///
    /// - `x` is not looked at
    /// - `tokens`: `[batch, steps]`
    /// - output: `[batch, classes]`
    pub fn forward(&self, x: Tensor<4>, tokens: Tensor<2, Int>, cx: &ForwardCx) -> Tensor<2> {
        self.head(self.features(x, tokens, cx), cx)
    }
}

impl Network for CharLstm {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", Self::forward),
            Function::new("features", Self::features),
            Function::new("head", Self::head),
        ]
    }

    fn objective() -> Objective {
        Objective {
            inputs: &["tokens"],
            ..Objective::default()
        }
    }
}
