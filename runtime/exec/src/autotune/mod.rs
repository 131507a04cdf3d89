//! Chooses the algorithm of convolutions: a fixed one, or the one that is fastest on the device.
//!
//! The choices can be kept in a folder from run to run; see [`AutotuneCache`].

mod cache;
pub(crate) mod measure;
mod policy;
#[cfg(test)]
mod tests;

pub use cache::{AutotuneCache, CacheError};
pub use policy::{ConvPolicy, ConvPolicyError};
