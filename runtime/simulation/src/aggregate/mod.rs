//! Aggregates the values of clients, in a fixed order.

pub(crate) mod order_statistics;
pub(crate) mod pairwise;
pub(crate) mod reduction;
pub(crate) mod weighted_sum;
