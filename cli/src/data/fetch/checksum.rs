//! Checksums of downloaded files.

use std::io;
use std::path::Path;

use md5::Md5;
use sha2::Sha256;

use crate::digest;

/// A published checksum, in lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Checksum {
    Md5(&'static str),
    Sha256(&'static str),
}

impl Checksum {
    pub fn text(self) -> &'static str {
        match self {
            Self::Md5(text) | Self::Sha256(text) => text,
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Self::Md5(_) => "md5",
            Self::Sha256(_) => "sha256",
        }
    }

    /// The sum of this kind of a file.
    pub fn of_file(self, path: &Path) -> io::Result<String> {
        let (digest, _) = match self {
            Self::Md5(_) => digest::of_file::<Md5>(path)?,
            Self::Sha256(_) => digest::of_file::<Sha256>(path)?,
        };
        Ok(digest)
    }
}
