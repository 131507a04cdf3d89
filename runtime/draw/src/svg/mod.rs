//! Drawings as SVG, for papers.
//!
//! A fed module is drawn as two lanes, server and clients, with time running down. A box is an op, a
//! frame is a region, and an arrow between the lanes is a value that is sent. A tensor graph is drawn in
//! layers, with operands above results. Text is set for Helvetica, Arial or DejaVu Sans. The files need
//! no style sheet, script or embedded font, so that LaTeX converters and office programs can read them.

mod canvas;
mod lanes;
mod layers;
mod measure;
mod pen;
mod scene;
mod script;
mod script_regions;
mod script_text;
mod script_wires;
mod tensor;
mod text;

pub use lanes::{Phase, module, phases};
pub use tensor::sheets;
