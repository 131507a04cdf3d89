//! Aggregates the values of clients, in the order of the cohort.

pub(crate) mod order_statistics;
pub(crate) mod pairwise;
pub(crate) mod reduction;
pub(crate) mod weighted_sum;
