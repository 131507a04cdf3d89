//! The space that is left on a disk.

use std::io::{self, ErrorKind};
use std::path::Path;

/// Whether an error says that the disk is full, or a quota used up.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// The bytes that are free for a file's folder, where the system says so.
#[cfg(unix)]
pub(crate) fn free(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder(path)).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
pub(crate) fn free(_: &Path) -> Option<u64> {
    None
}
