//! What an algorithm is compiled to: `fedround graph` and `fedround opt`, and the programs that they and others show.

pub(crate) mod args;
pub(crate) mod compilation;
mod graph;
mod opt;
mod pass_changes;
mod pass_diff;
pub(crate) mod pass_dump;
mod tensor_sheets;

pub(crate) use graph::graph;
pub(crate) use opt::opt;
