//! Passes over the fed dialect.
//!
//! - [`transform`] has the passes that change a module, one per file.
//! - [`analysis`] has analyses: warnings, differential privacy, and transfers that are not necessary.
//! - [`link`] runs the pipeline: verify, [`link_hooks()`], then [`canonicalize()`], [`cse()`] and
//!   [`dce()`] until nothing changes.

pub mod analysis;
mod pipeline;
mod registry;
pub mod transform;

pub use analysis::{
    CohortSum, Draw, Encoded, Leaves, Mechanism, Mechanisms, NoiseKind, Repetitions, RowSteps,
    Unit, Warning, codec, encoded, examples_in_order, mechanisms, moved_statistics, warnings,
    zero_trees, zeros,
};
pub use pipeline::{Linked, lay_out, link, link_with};
pub use transform::{LinkError, canonicalize, cse, dce, fuse_maps, licm, link_hooks};
