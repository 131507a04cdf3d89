//! Turns tokens into syntax, without interpreting them.

mod federated;
mod hyper;

pub use federated::{Federated, federated, federated_crate};
pub use hyper::{HyperInput, Key, hyper, hyper_crate, keys};
