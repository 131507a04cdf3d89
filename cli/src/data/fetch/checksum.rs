//! Checksums.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use md5::Md5;
use sha2::{Digest, Sha256};

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
        match self {
            Self::Md5(_) => digest::<Md5>(path),
            Self::Sha256(_) => digest::<Sha256>(path),
        }
    }
}

fn digest<D: Digest>(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = D::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut piece)?;
        if n == 0 {
            break;
        }
        digest.update(&piece[..n]);
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
