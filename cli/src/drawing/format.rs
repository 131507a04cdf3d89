//! The formats of drawings, by the names of their files, and the errors of writing them.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// What a drawing can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Pixels, two for each of the drawing's
    Png,
    /// A page of the drawing's size, with letters as text
    Pdf,
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Pdf => "PDF",
        })
    }
}

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

impl Picture {
    /// What the names of its files end in.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format of a file by its name; `None` is SVG, as is a name without an extension.
    pub fn of(path: &Path) -> Result<Option<Self>, DrawingError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            None | Some("svg") => Ok(None),
            Some("png") => Ok(Some(Self::Png)),
            Some("pdf") => Ok(Some(Self::Pdf)),
            Some(_) => Err(DrawingError::Extension(path.to_owned())),
        }
    }

    /// Fails if this build cannot write the format.
    pub fn check(self) -> Result<(), DrawingError> {
        #[cfg(feature = "raster")]
        return Ok(());
        #[cfg(not(feature = "raster"))]
        Err(DrawingError::NotBuilt(self))
    }
}

/// Reads the argument that names the file of a drawing, so that a name which this build cannot write is an
/// error before anything is computed.
pub(crate) fn drawing_path(argument: &str) -> Result<PathBuf, DrawingError> {
    let path = PathBuf::from(argument);
    Picture::of(&path)?.map_or(Ok(()), Picture::check)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_say_the_format() {
        let of = |name: &str| Picture::of(Path::new(name));
        for name in ["a/b.svg", "a.SVG", "plain"] {
            assert!(matches!(of(name), Ok(None)), "{name}");
        }
        assert!(matches!(of("a.b/c.PNG"), Ok(Some(Picture::Png))));
        assert!(matches!(of("c.pdf"), Ok(Some(Picture::Pdf))));
        let error = of("c.jpg").unwrap_err().to_string();
        assert!(error.contains("c.jpg: expected") && error.contains(".svg, .png or .pdf"));
    }

    #[cfg(not(feature = "raster"))]
    #[test]
    fn a_build_without_the_feature_says_how_to_get_it() {
        let error = drawing_path("c.pdf").unwrap_err().to_string();
        assert!(error.contains("for PDF, build it with"), "{error}");
        assert!(error.contains("--features raster"), "{error}");
        assert!(drawing_path("c.svg").is_ok());
    }
}
