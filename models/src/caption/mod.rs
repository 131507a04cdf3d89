//! Image captions with soft attention, as FedAA trains them: a residual encoder and the decoder of
//! Xu et al. 2015, "Show, Attend and Tell", <https://arxiv.org/abs/1502.03044>, section 3.

mod attention;
mod search;

use burn::module::Module;
use burn::nn::{Embedding, Linear};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Int, Tensor};

use crate::layers::{Dropout, Lstm, LstmState, embedding, linear, plane_means};
use crate::{ForwardCx, Function, Network, Objective, ResNetConfig, ResNetFeatures, Stem, Task};

pub use attention::Attention;
pub use search::{Beam, Words, beam_search};

/// The shape of a [`Captioner`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaptionConfig {
    /// The encoder: ResNet-50 with the ImageNet stem in FedAA, which makes 2048x4x4 of 3x128x128.
    pub encoder: ResNetConfig,
    /// Channels of an image.
    pub channels: usize,
    /// Number of words.
    pub vocabulary: usize,
    /// Size of a word's vector.
    pub embedding: usize,
    /// Units of the attention.
    pub attention: usize,
    /// Units of the decoder.
    pub units: usize,
    /// Probability of dropout before the words' logits.
    pub dropout: f64,
}

impl CaptionConfig {
    /// FedAA's encoder, and 512 for the sizes that the paper leaves out.
    pub fn new(vocabulary: usize) -> Self {
        Self {
            encoder: ResNetConfig {
                stem: Stem::ImageNet,
                ..ResNetConfig::resnet50()
            },
            channels: 3,
            vocabulary,
            embedding: 512,
            attention: 512,
            units: 512,
            dropout: 0.5,
        }
    }

    /// A small one of the same form.
    pub fn small(vocabulary: usize) -> Self {
        Self {
            encoder: ResNetConfig {
                stem: Stem::ImageNet,
                depths: [1; 4],
                width: 16,
                ..ResNetConfig::resnet18()
            },
            embedding: 64,
            attention: 64,
            units: 128,
            ..Self::new(vocabulary)
        }
    }

    /// The same for a task's images.
    #[must_use]
    pub fn of(self, task: Task) -> Self {
        Self {
            channels: task.input[0],
            ..self
        }
    }

    /// The model.
    pub fn init(&self, device: &Device) -> Captioner {
        let (places, units) = (self.encoder.features(), self.units);
        Captioner {
            features: self.encoder.encoder(self.channels, device),
            head: CaptionDecoder {
                attention: Attention::new(places, units, self.attention, device),
                embedding: embedding(self.vocabulary, self.embedding, device),
                init_h: linear(places, units, device),
                init_c: linear(places, units, device),
                gate: linear(units, places, device),
                lstm: Lstm::new(self.embedding + places, units, device),
                words: linear(units, self.vocabulary, device),
                dropout: Dropout::new(self.dropout),
            },
        }
    }
}

/// An image encoder and a decoder of words: the parts `features` and `head`, FedAA's `F` and `T`.
#[derive(Module, Debug)]
pub struct Captioner {
    /// From images to what is at each of their places.
    pub features: ResNetFeatures,
    /// From places to words.
    pub head: CaptionDecoder,
}

/// One LSTM layer that attends to the places of an image before each word.
#[derive(Module, Debug)]
pub struct CaptionDecoder {
    /// Where to look.
    pub attention: Attention,
    /// `[vocabulary, embedding]`.
    pub embedding: Embedding,
    /// From the mean place to the first hidden state.
    pub init_h: Linear,
    /// From the mean place to the first cell.
    pub init_c: Linear,
    /// `f_β`: how much of what was seen counts (section 4.2.1).
    pub gate: Linear,
    /// Over words and what was seen.
    pub lstm: Lstm,
    /// To the logits of the next word.
    pub words: Linear,
    dropout: Dropout,
}

/// What one step of the decoder gives.
#[derive(Clone, Debug)]
pub struct CaptionStep {
    /// `[batch, vocabulary]`, of the next word.
    pub logits: Tensor<2>,
    /// `[batch, places]`: the weight of each place, `α`.
    pub attention: Tensor<2>,
    /// What the next step starts from.
    pub state: LstmState,
}

impl Captioner {
    /// What is at each place of each image.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, places, features]`, places row by row
    pub fn encode_image(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<3> {
        let maps: Tensor<3> = self.features.maps(x, cx).flatten(2, 3);
        maps.swap_dims(1, 2)
    }

    /// The mean place of each image: what FedAA's identifier judges.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, features]`
    pub fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        plane_means(self.features.maps(x, cx))
    }

    /// Logits of each word's successor, the words being given (teacher forcing).
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - `words`: `[batch, steps]`, from the start word on
    /// - output: `[batch, steps, vocabulary]`
    pub fn forward(&self, x: Tensor<4>, words: Tensor<2, Int>, cx: &ForwardCx) -> Tensor<3> {
        self.decode(self.encode_image(x, cx), words, cx)
    }

    /// [`forward`](Self::forward) on images that are encoded already.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    /// - `words`: `[batch, steps]`, from the start word on
    /// - output: `[batch, steps, vocabulary]`
    pub fn decode(&self, places: Tensor<3>, words: Tensor<2, Int>, cx: &ForwardCx) -> Tensor<3> {
        self.head.decode(places, words, cx)
    }

    /// The decoder's state before the first word, as one tensor: hidden units and then cells.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    /// - output: `[batch, 2 · units]`
    pub fn start(&self, places: Tensor<3>, _: &ForwardCx) -> Tensor<2> {
        let state = self.head.start(places);
        Tensor::cat(vec![state.hidden, state.cell], 1)
    }

    /// One word further: logits of the next word, and then the next state.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    /// - `word`: `[batch]`, the word before
    /// - `state`: `[batch, 2 · units]`, as of [`start`](Self::start)
    /// - output: `[batch, vocabulary + 2 · units]`
    pub fn step(
        &self,
        places: Tensor<3>,
        word: Tensor<1, Int>,
        state: Tensor<2>,
        cx: &ForwardCx,
    ) -> Tensor<2> {
        let [_, both] = state.dims();
        let state = LstmState {
            hidden: state.clone().narrow(1, 0, both / 2),
            cell: state.narrow(1, both / 2, both / 2),
        };
        let step = self.head.step(places, word, state, cx);
        Tensor::cat(vec![step.logits, step.state.hidden, step.state.cell], 1)
    }
}

impl Network for Captioner {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", Self::forward),
            Function::new("encode_image", Self::encode_image),
            Function::new("features", Self::features),
            Function::new("decode", Self::decode),
            Function::new("start", Self::start),
            Function::new("step", Self::step),
        ]
    }

    fn objective() -> Objective {
        Objective {
            inputs: &["tokens"],
            loss: "next_words",
            target: "tokens",
        }
    }
}

impl CaptionDecoder {
    /// The state before the first word.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    pub fn start(&self, places: Tensor<3>) -> LstmState {
        let [batch, _, features] = places.dims();
        let mean: Tensor<2> = places.mean_dim(1).reshape([batch, features]);
        LstmState {
            hidden: self.init_h.forward(mean.clone()),
            cell: self.init_c.forward(mean),
        }
    }

    /// One word further.
    ///
    /// # Shapes
    ///
    /// - `places`: `[batch, places, features]`
    /// - `word`: `[batch]`, the word before
    pub fn step(
        &self,
        places: Tensor<3>,
        word: Tensor<1, Int>,
        state: LstmState,
        cx: &ForwardCx,
    ) -> CaptionStep {
        let [batch] = word.dims();
        let word: Tensor<3> = self.embedding.forward(word.reshape([batch, 1]));
        self.step_on(places, word.flatten(1, 2), state, cx)
    }

    /// Logits of each word's successor, see [`Captioner::forward`].
    pub fn decode(&self, places: Tensor<3>, words: Tensor<2, Int>, cx: &ForwardCx) -> Tensor<3> {
        let [batch, steps] = words.dims();
        let words = self.embedding.forward(words);
        let mut state = self.start(places.clone());
        let mut logits = Vec::with_capacity(steps);
        for t in 0..steps {
            let word = words.clone().narrow(1, t, 1).flatten(1, 2);
            let step = self.step_on(places.clone(), word, state, cx);
            let [_, vocabulary] = step.logits.dims();
            logits.push(step.logits.reshape([batch, 1, vocabulary]));
            state = step.state;
        }
        Tensor::cat(logits, 1)
    }

    /// [`step`](Self::step) on a word's vector.
    fn step_on(
        &self,
        places: Tensor<3>,
        word: Tensor<2>,
        state: LstmState,
        cx: &ForwardCx,
    ) -> CaptionStep {
        let attention = self.attention.weights(places.clone(), state.hidden.clone());
        let seen = self.attention.seen(places, attention.clone());
        let seen = sigmoid(self.gate.forward(state.hidden.clone())) * seen;
        let state = self.lstm.step(Tensor::cat(vec![word, seen], 1), state);
        let hidden = self.dropout.forward(state.hidden.clone(), cx);
        CaptionStep {
            logits: self.words.forward(hidden),
            attention,
            state,
        }
    }
}
