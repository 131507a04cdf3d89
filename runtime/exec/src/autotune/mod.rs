//! Chooses the algorithm of convolutions, by timing them on the device where asked to.
//!
//! Timings can be kept in a folder of the caller's; see [`AutotuneCache`].

mod cache;
pub(crate) mod measure;
mod policy;
#[cfg(test)]
mod tests;

pub use cache::{AutotuneCache, CacheError};
pub use policy::{ConvPolicy, ConvPolicyError};
