//! Shows what a GPU's kernel fusion makes of a program.

mod gpu_fusion;
mod gpu_fusion_text;
mod memory_layout;

pub use gpu_fusion::{FusedGraph, FusionError};
