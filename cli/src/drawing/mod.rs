//! Files of drawings: SVG as it was drawn, or PNG and PDF made of it.

pub(crate) mod contact_sheet;
mod error;
mod format;
mod picture;
#[cfg(feature = "raster")]
mod raster;
mod write;

pub(crate) use error::DrawingError;
pub(crate) use format::drawing_path;
pub(crate) use picture::Picture;
pub(crate) use write::{convert_all, encode, write};
