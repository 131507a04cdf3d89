//! Passes over the fed dialect.
//!
//! - `transform` has the passes that change a module, one per file. `fedround opt` and a
//!   [`PassManager`](crate::PassManager) run any of them by name.
//! - `analysis` has analyses: warnings, differential privacy, and transfers that are not necessary.
//! - [`link`] runs the pipeline: verify, `link-hooks`, then `canonicalize`, `cse` and `dce` until nothing
//!   changes.

pub(crate) mod analysis;
mod definition;
mod pipeline;
mod registry;
mod transform;

pub use analysis::{
    CohortSum, Draw, Encoded, IdleLayer, Leaves, Mechanism, Mechanisms, NoiseKind, RowSteps, Unit,
    Warning, codec, examples_in_order, idle_layers, mechanisms, moved_statistics, zero_trees,
    zeros,
};
pub use pipeline::{Linked, lay_out, link, link_with};
pub use transform::{LinkError, dce};
#[cfg(test)]
pub(crate) use transform::{cse, fuse_maps};
