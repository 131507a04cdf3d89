//! Files of drawings: SVG as it was drawn, or PNG and PDF made of it.

mod error;
mod format;
#[cfg(feature = "raster")]
mod raster;
mod write;

pub(crate) use error::DrawingError;
pub(crate) use format::{Picture, drawing_path};
pub(crate) use write::{convert_all, encode, write};
