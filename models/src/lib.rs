//! Models and losses as plain burn code.
//!
//! A model is a burn [`Module`](burn::module::Module) that implements [`Classifier`]; its
//! top-level fields are its *parts* (`features`, `head`), which specs name to say what is shared
//! or personal. A loss is a function from tensors to a scalar tensor. Neither knows of federation:
//! they are traced once and compiled.

mod cnn;
mod lenet;
mod linear;
pub mod losses;
mod model;
mod registry;
mod stop_gradient;

pub use cnn::{McMahanCnn, PflCnn};
pub use lenet::LeNet5;
pub use linear::{Logistic, TwoNn};
pub use losses::{Loss, Losses, UnknownLoss, cross_entropy};
pub use model::{Classifier, Leaf, Model, Task};
pub use registry::{MODELS, ModelError, ModelInfo, find};
pub use stop_gradient::stop_gradient;
