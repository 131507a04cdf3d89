//! Transformations of modules, one file for each.

mod algebra;
mod canonicalize;
mod cse;
mod dce;
mod dead_hypers;
mod fuse_maps;
mod licm;
mod link_error;
mod link_hooks;
mod link_map;
mod rewrite;
mod sent_params;

pub use canonicalize::canonicalize;
pub use cse::cse;
pub use dce::dce;
pub use fuse_maps::fuse_maps;
pub use licm::licm;
pub use link_error::LinkError;
pub use link_hooks::link_hooks;
