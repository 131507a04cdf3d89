//! Why a drawing is not written.

use std::path::PathBuf;

use super::picture::Picture;

/// Why a drawing is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrawingError {
    #[error("{}: expected the name of a drawing to end in .svg, .png or .pdf", .0.display())]
    Extension(PathBuf),
    #[cfg(not(feature = "raster"))]
    #[error(
        "this fedround writes drawings as SVG only: for {0}, build it with `cargo install --path cli --features raster`"
    )]
    NotBuilt(Picture),
    #[error(
        "{0} is not for a terminal: write it to a file, as in `fedround graph fedavg --format {ext} > fedavg.{ext}`",
        ext = .0.extension()
    )]
    Terminal(Picture),
    #[error("{}: expected a folder with drawings (*.svg), found none", .0.display())]
    NoDrawings(PathBuf),
    #[cfg(feature = "raster")]
    #[error(
        "no font was found for the letters of a drawing: install one, such as the Debian package `fonts-dejavu-core`, or write SVG"
    )]
    NoFont,
    #[cfg(feature = "raster")]
    #[error("the drawing of {0} × {1} pixels is too large for PNG: write PDF or SVG")]
    TooLarge(u32, u32),
    #[cfg(feature = "raster")]
    #[error("{to} cannot be made of the SVG: {message}")]
    Convert { to: Picture, message: String },
}
