//! Transformations of tensor graphs, one file for each.

pub mod batch;
pub mod convolutions;
mod cse;
mod dce;
mod elide_zero_carry;
mod fold;
mod fuse;
mod fuse_elementwise;
mod mixed_precision;
mod parametrize_constants;
mod pool_first;
mod rewrite;
mod sink_views;

pub use batch::{Batched, Looped, batch};
pub use convolutions::{ConvAlgorithm, convolutions};
pub use cse::cse;
pub(crate) use cse::share;
pub use dce::dce;
pub use elide_zero_carry::{Leaf, elide_zero_carry};
pub use fold::fold;
pub use fuse::fuse;
pub use fuse_elementwise::fuse_elementwise;
pub use mixed_precision::mixed_precision;
pub use parametrize_constants::{InputSource, parametrize_constants};
pub use pool_first::pool_first;
pub use sink_views::sink_views;
