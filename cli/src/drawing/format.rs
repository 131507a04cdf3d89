//! The formats of drawings, by the names of their files.

use std::path::{Path, PathBuf};

use super::error::DrawingError;
use super::picture::Picture;

impl Picture {
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
