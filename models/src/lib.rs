//! Models and losses as plain burn code.
//!
//! A model is a burn [`Module`](burn::module::Module) that implements [`Classifier`], or
//! [`Network`] if it has other functions than a classifier; its
//! top-level fields are its *parts*, such as `features` and `head`. Algorithms name parts to share some of
//! them and to keep others on the clients. A loss is a function from tensors to a scalar tensor. Models and losses
//! know nothing about federated learning: they are traced once and compiled.

mod adult;
mod auxiliary;
mod bundled;
mod caption;
mod char_lstm;
mod cnn;
mod digits;
mod discriminator;
mod encoder;
mod fed_aa;
mod fed_fed;
mod forward;
mod function;
mod functions;
mod gpt;
pub mod layers;
mod leaf;
mod lenet;
mod lg_fed_avg;
mod linear;
pub mod losses;
mod low_rank;
mod model;
mod projected;
mod registry;
mod resnet;
mod stop_gradient;
mod vqa;
mod weights;

pub use adult::{AdultHidden, AdultMlp};
pub use auxiliary::{
    AUXILIARIES, Assembled, Assembly, Auxiliary, AuxiliaryError, AuxiliaryTask, BASE, Disentangler,
    ImageDecoder, MutualInformation, Part, REPRESENT, Variant, assemble,
};
pub use bundled::{MODELS, build, find};
pub use caption::{
    Attention, Beam, CaptionConfig, CaptionDecoder, CaptionStep, Captioner, Words, beam_search,
};
pub use char_lstm::{CharFeatures, CharLstm};
pub use cnn::{McMahanCnn, McMahanFeatures, PflCnn, PflFeatures};
pub use digits::{DigitsCnn, DigitsConfig, DigitsFeatures};
pub use discriminator::{Discriminator, PlaneResNet};
pub use encoder::{Encoder, Headed};
pub use fed_aa::{FedAaCnn, FedAaConfig, FedAaFeatures, identifier};
pub use fed_fed::{BetaVae, ResNetGenerator, Residual, VaeConfig, VaeDecoder, VaeEncoder};
pub use forward::{Buffer, ForwardCx};
pub use function::{AnyTensor, Argument, CallError, Function, Method};
pub use gpt::{Gpt, GptBlock, GptFeatures};
pub use layers::NormKind;
pub use leaf::{Layer, Leaf};
pub use lenet::{LeNet5, LeNetFeatures};
pub use lg_fed_avg::{DeepHeaded, LgConvolutions, LgHidden, LgLeNet5, LgMlp};
pub use linear::{Logistic, TwoNn, TwoNnFeatures};
pub use losses::{Loss, Losses, cross_entropy};
pub use low_rank::{LowRank, LowRankError, Train, TrainError};
pub use model::{Classifier, Model, Network, Objective, Output, Task};
pub use projected::{Moon, Predictor, Projector, SimSiam};
pub use registry::{ModelError, ModelInfo};
pub use resnet::{Block, BlockKind, ConvNorm, ResNet, ResNetConfig, ResNetFeatures, Stem};
pub use stop_gradient::stop_gradient;
pub use vqa::{QuestionEncoder, VqaConfig, VqaFeatures, VqaHead, VqaNet};
pub use weights::{
    Fitted, Layout, LoadReport, NamedValues, Renames, TORCHVISION_RESNET, Weights, WeightsError,
    little_endian, load_weights, to_safetensors, to_torch_file,
};
