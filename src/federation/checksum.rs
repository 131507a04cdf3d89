//! Checksums of names, by which two sides compare them without writing them out. They are no secret: a name that
//! is guessed can be checked.

use fedround_store::hex;
use sha2::{Digest, Sha256};

/// A checksum of names in their order.
pub(super) fn checksum(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut digest = Sha256::new();
    for name in names {
        digest.update(name.as_ref());
        // No name has this byte, so that `ab, c` differs from `a, bc`.
        digest.update([0xff]);
    }
    hex(&digest.finalize()[..8])
}
