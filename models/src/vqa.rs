//! Visual question answering, as LG-FedAvg trains it. Liang et al. 2020, section 3.3.

use burn::module::Module;
use burn::nn::{Embedding, Linear};
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Int, Tensor};

use crate::layers::{Dropout, Lstm, LstmState, embedding, linear};
use crate::{
    Classifier, ForwardCx, Function, Network, Objective, ResNet, ResNetConfig, Stem, Task,
};

/// The shape of a [`VqaNet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VqaConfig {
    /// The image channel: ResNet-18 with the ImageNet stem in the paper.
    pub image: ResNetConfig,
    /// `[channels, height, width]` of an image.
    pub input: [usize; 3],
    /// Outputs of the image channel: the 1000 classes of ImageNet in the paper.
    pub image_classes: usize,
    /// Number of words.
    pub vocabulary: usize,
    /// Size of a word's vector.
    pub embedding: usize,
    /// Units of each LSTM layer.
    pub units: usize,
    /// Number of LSTM layers: 2 in the paper.
    pub layers: usize,
    /// Size of the two channels where they meet.
    pub joint: usize,
    /// Number of answers.
    pub answers: usize,
    /// Probability of dropout before each of the last two layers.
    pub dropout: f64,
}

impl VqaConfig {
    /// The paper's, for questions of so many words. Sizes that the paper leaves out (vectors of
    /// 300, 512 units, 1024 where channels meet, 1000 answers) are those whose global part has the
    /// paper's 5,149,200 parameters.
    pub fn new(vocabulary: usize) -> Self {
        Self {
            image: ResNetConfig {
                stem: Stem::ImageNet,
                ..ResNetConfig::resnet18()
            },
            input: [3, 224, 224],
            image_classes: 1000,
            vocabulary,
            embedding: 300,
            units: 512,
            layers: 2,
            joint: 1024,
            answers: 1000,
            dropout: 0.5,
        }
    }

    /// A small one of the same form, for images of 64x64.
    pub fn small(vocabulary: usize) -> Self {
        Self {
            image: ResNetConfig {
                depths: [1; 4],
                width: 16,
                ..Self::new(vocabulary).image
            },
            input: [3, 64, 64],
            image_classes: 128,
            embedding: 64,
            units: 64,
            joint: 128,
            answers: 128,
            ..Self::new(vocabulary)
        }
    }

    /// The same for a task: its images, and its classes as answers.
    #[must_use]
    pub fn of(self, task: Task) -> Self {
        Self {
            input: task.input,
            answers: task.classes,
            ..self
        }
    }

    /// The model.
    pub fn init(&self, device: &Device) -> VqaNet {
        let image = Task {
            input: self.input,
            classes: self.image_classes,
        };
        let lstm = |i| match i {
            0 => Lstm::new(self.embedding, self.units, device),
            _ => Lstm::new(self.units, self.units, device),
        };
        VqaNet {
            features: VqaFeatures {
                image: self.image.init(image, device),
                question: QuestionEncoder {
                    embedding: embedding(self.vocabulary, self.embedding, device),
                    lstm: (0..self.layers).map(lstm).collect(),
                },
            },
            head: VqaHead {
                image: linear(self.image_classes, self.joint, device),
                question: linear(2 * self.layers * self.units, self.joint, device),
                fc1: linear(self.joint, self.answers, device),
                fc2: linear(self.answers, self.answers, device),
                dropout: Dropout::new(self.dropout),
            },
        }
    }
}

/// An image channel and a question channel that meet in an element-wise product: the parts `features`
/// and `head`. The head is the paper's global part: the last layer of each channel and
/// the two layers after the product, 5,149,200 parameters.
#[derive(Module, Debug)]
pub struct VqaNet {
    /// Both channels but for their last layers.
    pub features: VqaFeatures,
    /// From both to answers.
    pub head: VqaHead,
}

/// What is local in the paper.
#[derive(Module, Debug)]
pub struct VqaFeatures {
    /// From images to the logits of ImageNet's classes.
    pub image: ResNet,
    /// From words to the states of its layers.
    pub question: QuestionEncoder,
}

/// Vectors of words and LSTM layers over them.
#[derive(Module, Debug)]
pub struct QuestionEncoder {
    /// `[vocabulary, embedding]`.
    pub embedding: Embedding,
    /// Each over the outputs of the one before.
    pub lstm: Vec<Lstm>,
}

/// What is global in the paper.
#[derive(Module, Debug)]
pub struct VqaHead {
    /// `[image_classes, joint]`.
    pub image: Linear,
    /// `[2 · layers · units, joint]`.
    pub question: Linear,
    /// `[joint, answers]`.
    pub fc1: Linear,
    /// `[answers, answers]`.
    pub fc2: Linear,
    dropout: Dropout,
}

impl VqaNet {
    /// What the image channel gives the head.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - output: `[batch, image_classes]`
    pub fn encode_image(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.features.image.forward(x, cx)
    }

    /// What the question channel gives the head: the last hidden state and cell of each layer.
    ///
    /// # Shapes
    ///
    /// - `words`: `[batch, steps]`
    /// - output: `[batch, 2 · layers · units]`
    pub fn encode_question(&self, words: Tensor<2, Int>, _: &ForwardCx) -> Tensor<2> {
        let question = &self.features.question;
        let [batch, _] = words.dims();
        let mut sequence = tanh(question.embedding.forward(words));
        let (mut hidden, mut cells) = (vec![], vec![]);
        for lstm in &question.lstm {
            let [units, _] = lstm.weight_hh.dims();
            let start = LstmState::zeros(batch, units, &sequence.device());
            let (outputs, last) = lstm.forward(sequence, start);
            sequence = outputs;
            hidden.push(last.hidden);
            cells.push(last.cell);
        }
        hidden.extend(cells);
        tanh(Tensor::cat(hidden, 1))
    }

    /// Logits of the answers.
    ///
    /// # Shapes
    ///
    /// - `image`: `[batch, image_classes]`
    /// - `question`: `[batch, 2 · layers · units]`
    /// - output: `[batch, answers]`
    pub fn head(&self, image: Tensor<2>, question: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        let head = &self.head;
        let both = head.image.forward(image) * head.question.forward(question);
        let h = head.fc1.forward(head.dropout.forward(tanh(both), cx));
        head.fc2.forward(head.dropout.forward(tanh(h), cx))
    }

    /// Logits of the answers to questions about images.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, height, width]`
    /// - `words`: `[batch, steps]`
    /// - output: `[batch, answers]`
    pub fn forward(&self, x: Tensor<4>, words: Tensor<2, Int>, cx: &ForwardCx) -> Tensor<2> {
        let question = self.encode_question(words, cx);
        self.head(self.encode_image(x, cx), question, cx)
    }
}

impl Network for VqaNet {
    fn functions() -> Vec<Function<Self>> {
        vec![
            Function::new("forward", Self::forward),
            Function::new("encode_image", Self::encode_image),
            Function::new("encode_question", Self::encode_question),
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
