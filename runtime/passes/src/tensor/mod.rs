//! Passes over tensor graphs.
//!
//! - [`transform`] has the passes that change a graph, one per file.
//! - [`analysis`] has analyses: the cost of a graph, and which rules cover which op.
//! - [`optimize`] and the other functions of the pipeline run passes in their usual order.

pub mod analysis;
mod pipeline;
mod registry;
pub mod transform;

pub use analysis::{Cost, Coverage, Gradient, NodeCost, bytes, cost, coverage};
pub use pipeline::{
    batch_clients_with, convolutions_with, elide_zero_carry_with, fuse_with, one_hot_with,
    optimize, optimize_with, order_for_fusion_with, parametrize_constants_with,
};
pub use transform::batch::Rule as BatchingRule;
pub use transform::convolutions::options as conv_options;
pub use transform::{
    Batched, ConvAlgorithm, InputSource, Leaf, Looped, batch, convolutions, cse, dce,
    early_updates, elide_zero_carry, fold, fuse, fuse_elementwise, fusion_order, join_products,
    join_sums, known_sums, lift_expands, mixed_precision, one_hot, parametrize_constants,
    plane_sums, pool_first, recompute, rematerialize, scale_first, sink_reshapes, sink_views,
};
