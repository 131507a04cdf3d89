//! Drawings as files.

use std::fs;
use std::path::{Path, PathBuf};

use fedround_store::write_atomically;

use super::format::{DrawingError, Picture};
#[cfg(feature = "raster")]
use super::raster;
use crate::error::CliError;
use crate::files::files_in;

/// Writes a drawing, whole or not at all, in the format that the file's name says.
pub(crate) fn write(path: &Path, svg: &str) -> Result<(), CliError> {
    let picture = Picture::of(path)?;
    let bytes = picture.map_or_else(|| Ok(svg.as_bytes().to_vec()), |to| encode(svg, to))?;
    Ok(write_atomically(path, &[&bytes])?)
}

/// A drawing in another format.
pub(crate) fn encode(svg: &str, to: Picture) -> Result<Vec<u8>, DrawingError> {
    #[cfg(feature = "raster")]
    return match to {
        Picture::Png => raster::png(svg),
        Picture::Pdf => raster::pdf(svg),
    };
    #[cfg(not(feature = "raster"))]
    {
        let _ = svg;
        Err(DrawingError::NotBuilt(to))
    }
}

/// Converts every drawing of a folder to a file beside it, and gives the new files in the order of their
/// names.
pub(crate) fn convert_all(dir: &Path, to: Picture) -> Result<Vec<PathBuf>, CliError> {
    to.check()?;
    let drawings = files_in(dir, "svg")?;
    if drawings.is_empty() {
        return Err(DrawingError::NoDrawings(dir.to_owned()).into());
    }
    drawings
        .iter()
        .map(|from| {
            let svg = fs::read_to_string(from).map_err(CliError::io("read", from))?;
            let path = from.with_extension(to.extension());
            write(&path, &svg)?;
            Ok(path)
        })
        .collect()
}
