//! Drawings of programs: [`dot`] for Graphviz, [`json`] for other programs and [`svg`] for papers.
//!
//! Each module draws a fed module, before or after linking, and the tensor graphs of a program, with or
//! without the memory slots of a plan (see [`Sheet`]). The output is deterministic: the same graph gives
//! the same text.

mod attributes;
pub mod dot;
mod fed_attributes;
pub mod json;
mod sheet;
pub mod svg;

pub use sheet::{Phase, Sheet};
