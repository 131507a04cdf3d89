//! What drawings can be converted to.

use std::fmt;

use clap::ValueEnum;

/// What a drawing can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Pixels, two for each of the drawing's
    Png,
    /// A page of the drawing's size, with letters as text
    Pdf,
}

impl Picture {
    /// What the names of its files end in.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Pdf => "PDF",
        })
    }
}
