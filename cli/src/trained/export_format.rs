//! The kinds of files that `fedround export` writes.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// As torch.save writes a state_dict
    Pytorch,
    /// As safetensors.torch.save_file does
    Safetensors,
}

/// A file's name does not say what it is to be, or says something else than --format.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportFormatError {
    #[error(
        "--to {}: expected a name that ends in .pt or .pth for PyTorch's format, or in .safetensors; with --format pytorch or \
         --format safetensors the file may have any other name", file.display()
    )]
    Unknown { file: PathBuf },
    #[error(
        "--format {asked} and --to {}: expected a name of that format, found one of {named}; leave --format out, or write {}",
        file.display(), asked.ending()
    )]
    Other {
        file: PathBuf,
        asked: ExportFormat,
        named: ExportFormat,
    },
}

impl ExportFormat {
    /// The format of a file: the one that is asked for, which its name must not contradict, or else that of its name.
    pub fn of(file: &Path, asked: Option<Self>) -> Result<Self, ExportFormatError> {
        let named = Self::named(file);
        match (asked, named) {
            (Some(asked), Some(named)) if asked != named => Err(ExportFormatError::Other {
                file: file.to_owned(),
                asked,
                named,
            }),
            (Some(format), _) | (None, Some(format)) => Ok(format),
            (None, None) => Err(ExportFormatError::Unknown {
                file: file.to_owned(),
            }),
        }
    }

    /// The format that a file's name stands for, if it does.
    fn named(file: &Path) -> Option<Self> {
        let ending = file.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "pt" | "pth" => Some(Self::Pytorch),
            "safetensors" => Some(Self::Safetensors),
            _ => None,
        }
    }

    /// How names of its files end.
    fn ending(self) -> &'static str {
        match self {
            Self::Pytorch => ".pt or .pth",
            Self::Safetensors => ".safetensors",
        }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pytorch => "pytorch",
            Self::Safetensors => "safetensors",
        })
    }
}
