//! Checksums of downloaded files.

use std::fs::File;
use std::io;
use std::path::Path;

use md5::Md5;
use sha2::Sha256;

use crate::files::digest::of_rest;

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
        self.of_rest(&mut File::open(path)?)
    }

    /// The sum of this kind of what an open file has from here on: on Windows, a file that is locked can be read in no
    /// other way.
    pub fn of_rest(self, file: &mut File) -> io::Result<String> {
        match self {
            Self::Md5(_) => Ok(of_rest::<Md5>(file)?.0),
            Self::Sha256(_) => Ok(of_rest::<Sha256>(file)?.0),
        }
    }
}
