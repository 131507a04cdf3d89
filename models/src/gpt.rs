//! Next characters of a text by a small decoder-only transformer.

use std::f32::consts::LN_10;

use burn::module::Module;
use burn::nn::{Embedding, LayerNorm, LayerNormConfig, Linear};
use burn::tensor::activation::gelu;
use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::layers::{embedding, linear};
use crate::{ForwardCx, Function, Network, Objective, Task};

/// Numbers of a head of attention, as far as the width is a multiple of it.
const HEAD: usize = 32;

/// A decoder-only transformer with normalisation before each layer, as in GPT-2 (Radford et al. 2019): causal
/// attention, and two linear layers of four times the width with GELU between them. The parts are `features` and
/// `head`.
///
/// The data is that of [`CharLstm`](crate::CharLstm). Positions have the sines and cosines of Vaswani et al. 2017
/// instead of learned vectors, so that texts may have any length. There is no dropout.
#[derive(Module, Debug)]
pub struct Gpt {
    /// From characters to the normalised state after the last one.
    pub features: GptFeatures,
    /// `[width, classes]`.
    pub head: Linear,
}

/// Vectors of characters, and blocks over them.
#[derive(Module, Debug)]
pub struct GptFeatures {
    /// `[classes, width]`.
    pub embedding: Embedding,
    /// One after another.
    pub blocks: Vec<GptBlock>,
    /// After the last block.
    pub norm: LayerNorm,
}

/// Attention, and two layers for each position.
#[derive(Module, Debug)]
pub struct GptBlock {
    norm1: LayerNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    norm2: LayerNorm,
    fc1: Linear,
    fc2: Linear,
}

impl GptBlock {
    fn new(width: usize, device: &Device) -> Self {
        let norm = || LayerNormConfig::new(width).init(device);
        let square = || linear(width, width, device);
        Self {
            norm1: norm(),
            query: square(),
            key: square(),
            value: square(),
            output: square(),
            norm2: norm(),
            fc1: linear(width, 4 * width, device),
            fc2: linear(4 * width, width, device),
        }
    }

    /// `x`: `[batch · steps, width]`; so is the output.
    fn forward(&self, x: Tensor<2>, [batch, steps]: [usize; 2]) -> Tensor<2> {
        let [_, width] = x.dims();
        let heads = if width.is_multiple_of(HEAD) {
            width / HEAD
        } else {
            1
        };
        let h = self.norm1.forward(x.clone());
        let split = |of: &Linear| -> Tensor<4> {
            let all = of.forward(h.clone());
            all.reshape([batch, steps, heads, width / heads])
                .swap_dims(1, 2)
        };
        let options = AttentionModuleOptions {
            is_causal: true,
            ..Default::default()
        };
        let (query, key, value) = (split(&self.query), split(&self.key), split(&self.value));
        let seen = attention(query, key, value, None, None, options);
        let seen = seen.swap_dims(1, 2).reshape([batch * steps, width]);
        let x = x + self.output.forward(seen);
        let h = self.fc1.forward(self.norm2.forward(x.clone()));
        x + self.fc2.forward(gelu(h))
    }
}

impl Gpt {
    /// For the characters of a task, with so many blocks of this width.
    pub fn new(task: Task, [layers, width]: [usize; 2], device: &Device) -> Self {
        let blocks = (0..layers).map(|_| GptBlock::new(width, device));
        Self {
            features: GptFeatures {
                embedding: embedding(task.classes, width, device),
                blocks: blocks.collect(),
                norm: LayerNormConfig::new(width).init(device),
            },
            head: linear(width, task.classes, device),
        }
    }

    /// The state after the last character.
    ///
    /// # Shapes
    ///
    /// - `x` is not looked at
    /// - `tokens`: `[batch, steps]`
    /// - output: `[batch, width]`
    pub fn features(&self, _: Tensor<4>, tokens: Tensor<2, Int>, _: &ForwardCx) -> Tensor<2> {
        let [batch, steps] = tokens.dims();
        let vectors = self.features.embedding.forward(tokens);
        let [_, _, width] = vectors.dims();
        let places = positions(steps, width, &vectors.device());
        let x = vectors + places;
        let x: Tensor<2> = x.reshape([batch * steps, width]);
        let blocks = self.features.blocks.iter();
        let x = blocks.fold(x, |x, block| block.forward(x, [batch, steps]));
        let x: Tensor<3> = x.reshape([batch, steps, width]);
        let last: Tensor<2> = x.narrow(1, steps - 1, 1).reshape([batch, width]);
        self.features.norm.forward(last)
    }

    /// Logits of the next character.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, width]`
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

/// `sin(t / 10000^(2i/width))` and the cosines of the same, `[1, steps, width]`. Vaswani et al. 2017, section 3.5.
fn positions(steps: usize, width: usize, device: &Device) -> Tensor<3> {
    let number = |at: usize| {
        let (t, i) = ((at / width) as f32, at % width);
        let angle = t * (-4.0 * LN_10 * (i - i % 2) as f32 / width as f32).exp();
        if i % 2 == 0 { angle.sin() } else { angle.cos() }
    };
    let numbers: Vec<f32> = (0..steps * width).map(number).collect();
    Tensor::from_data(TensorData::new(numbers, [1, steps, width]), device)
}

impl Network for Gpt {
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
