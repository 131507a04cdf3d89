//! What becomes of examples that cannot be used as they are.

use std::str::FromStr;

use super::OwnDataError;
use crate::DataError;

/// What becomes of rows of a table in which a value is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    #[default]
    Stop,
    /// They are left out.
    Drop,
    /// A missing number becomes the mean of the training rows, and a missing text is a category of its own.
    Fill,
}

/// What becomes of images that cannot be decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Broken {
    /// The first one that is read is an error.
    #[default]
    Stop,
    /// All images are decoded once beforehand, and those that cannot be decoded are left out.
    Skip,
}

impl FromStr for Missing {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "stop" => Ok(Self::Stop),
            "drop" => Ok(Self::Drop),
            "fill" => Ok(Self::Fill),
            _ => Err(OwnDataError::word("missing", text, "stop, drop or fill").into()),
        }
    }
}

impl FromStr for Broken {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "stop" => Ok(Self::Stop),
            "skip" => Ok(Self::Skip),
            _ => Err(OwnDataError::word("broken", text, "stop or skip").into()),
        }
    }
}
