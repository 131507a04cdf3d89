//! Tokens to syntax: what the user wrote, not yet what it means.

mod federated;
mod hyper;

pub use federated::{Federated, federated, federated_crate};
pub use hyper::{HyperInput, Key, hyper, hyper_crate, keys};
