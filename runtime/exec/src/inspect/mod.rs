//! Reports how burn-fusion fuses the ops of a program on a GPU.

mod gpu_fusion;
mod gpu_fusion_text;
mod memory_layout;

pub use gpu_fusion::{FusedGraph, FusionError};
