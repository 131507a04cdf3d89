//! Models and losses as plain burn code.
//!
//! A model is a burn [`Module`](burn::module::Module) that implements [`Classifier`], or
//! [`Network`] if it has other functions than a classifier; its
//! top-level fields are its *parts* (`features`, `head`), which specs name to say what is shared
//! or personal. A loss is a function from tensors to a scalar tensor. Neither knows of federation:
//! they are traced once and compiled.

mod cnn;
mod forward;
mod function;
pub mod layers;
mod lenet;
mod linear;
pub mod losses;
mod model;
mod registry;
mod resnet;
mod stop_gradient;

pub use cnn::{McMahanCnn, PflCnn};
pub use forward::{Buffer, ForwardCx};
pub use function::{AnyTensor, Argument, CallError, Function, Method};
pub use lenet::LeNet5;
pub use linear::{Logistic, TwoNn};
pub use losses::{Loss, Losses, cross_entropy};
pub use model::{Classifier, Leaf, Model, Network, Output, Task};
pub use registry::{MODELS, ModelError, ModelInfo, find};
pub use resnet::{NormKind, ResNet18};
pub use stop_gradient::stop_gradient;
