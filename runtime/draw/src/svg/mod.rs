//! Graphs as SVG, to be put in papers.
//!
//! A fed module is drawn as two lanes, server and clients, with time running down: a box is an
//! op, a frame a region, an arrow across what crosses the wire. A tensor graph is drawn in layers,
//! operands above results. Text is set for Helvetica, Arial or DejaVu Sans; nothing needs a style
//! sheet, a script or a font of its own, so that LaTeX's converters and office programs read it.

mod canvas;
mod lanes;
mod layers;
mod measure;
mod scene;
mod script;
mod script_regions;
mod script_wires;
mod tensor;
mod text;

pub use lanes::module;
pub use tensor::sheets;
