//! Passes over tensor graphs.
//!
//! - `transform` has the passes that change a graph, one per file. `fedround opt` and a
//!   [`PassManager`](crate::PassManager) run any of them by name.
//! - `analysis` has analyses: the cost of a graph, and which rules cover which op.
//! - [`optimize`] and the other functions of the pipeline run passes in their usual order.

mod analysis;
mod pipeline;
mod registry;
pub(crate) mod transform;

pub use analysis::{Cost, Coverage, Gradient, NodeCost, cost, coverage};
pub use pipeline::{
    batch_clients_with, convolutions_with, elide_zero_carry_with, fuse_with, one_hot_with,
    optimize, optimize_with, order_for_fusion_with, parametrize_constants_with,
};
pub use transform::batch::Rule as BatchingRule;
pub use transform::convolutions::options as conv_options;
pub use transform::{
    Batched, ConvAlgorithm, InputSource, Leaf, Looped, batch, convolutions, fuse, fuse_elementwise,
    join_products, known_sums, lift_expands, mixed_precision, parametrize_constants, plane_sums,
};
