//! Digests of files, by which a manifest recognises a changed file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use fedround_store::hex;
use sha2::Digest;

/// The digest of a file in lower-case hexadecimal digits, and the file's size in bytes.
pub(crate) fn of_file<D: Digest + Write>(path: &Path) -> io::Result<(String, u64)> {
    of_rest::<D>(&mut File::open(path)?)
}

/// The same of what an open file has from here on.
pub(crate) fn of_rest<D: Digest + Write>(file: &mut File) -> io::Result<(String, u64)> {
    let mut digest = D::new();
    let size = io::copy(file, &mut digest)?;
    Ok((hex(&digest.finalize()), size))
}
