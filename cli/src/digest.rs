//! Digests of files, by which a manifest recognises a changed file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use fedround_store::hex;
use sha2::Digest;

/// The digest of a file in lower-case hexadecimal digits, and the file's size in bytes.
pub(crate) fn of_file<D: Digest>(path: &Path) -> io::Result<(String, u64)> {
    of_rest::<D>(&mut File::open(path)?)
}

/// The same of what an open file has from here on.
pub(crate) fn of_rest<D: Digest>(file: &mut File) -> io::Result<(String, u64)> {
    let (mut digest, mut size) = (D::new(), 0);
    let mut piece = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut piece)?;
        if n == 0 {
            break;
        }
        digest.update(&piece[..n]);
        size += n as u64;
    }
    Ok((hex(&digest.finalize()), size))
}
