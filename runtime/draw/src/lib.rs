//! Drawings of graphs: [`dot`] for Graphviz, [`json`] for programs and [`svg`] for papers.
//!
//! Each format takes a fed module, before or after linking, and the tensor graphs of a program,
//! with or without the slots of a plan (see [`Sheet`]). All are deterministic: the same graph
//! gives the same text.

mod attributes;
pub mod dot;
pub mod json;
mod sheet;
pub mod svg;

pub use sheet::{Phase, Sheet};
