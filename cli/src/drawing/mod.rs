//! Files of drawings: SVG as it was drawn, PNG and PDF made of it, and contact sheets of images.

pub(crate) mod contact_sheet;
mod format;
#[cfg(feature = "raster")]
mod raster;
mod write;

pub(crate) use format::{DrawingError, Picture, drawing_path};
pub(crate) use write::{convert_all, encode, write};
