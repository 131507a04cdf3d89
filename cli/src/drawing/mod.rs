//! Files of drawings: SVG as it was drawn, or PNG and PDF made of it.

pub(crate) mod contact_sheet;
mod format;
#[cfg(feature = "raster")]
mod raster;
mod write;

pub(crate) use format::{DrawingError, Picture, drawing_path};
pub(crate) use write::{convert_all, encode, write};
