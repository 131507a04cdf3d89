//! Writes the user's tokens with small changes. Every token of the user keeps its span.

mod body;
mod declaration;
mod fallback;
mod federated;
mod hyper;
mod loops;

pub use fallback::{fallback, hyper_fallback};
pub use federated::{sound, spec};
pub use hyper::hypers;
