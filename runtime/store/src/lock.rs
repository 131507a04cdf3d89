//! Locks a folder, so that one process at a time writes into it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::error::StoreError;

/// The file that is locked.
const LOCK: &str = "lock";

/// A folder that no other process uses, for as long as this value lives. The system gives the lock
/// back when the process ends, however it ends; the file `lock` stays.
#[derive(Debug)]
pub struct FolderLock {
    /// Closing it gives the lock back.
    _file: File,
}

impl FolderLock {
    /// Locks a folder. `command` says in the errors of other processes what this one does.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] if another process has it, or this one already; otherwise
    /// [`StoreError::Io`].
    pub fn acquire(dir: &Path, command: &str) -> Result<Self, StoreError> {
        let path = dir.join(LOCK);
        let mut options = OpenOptions::new();
        // Not emptied before it is ours.
        let options = options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(&path).map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    dir: dir.to_owned(),
                    holder: holder(dir),
                });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
        }
        let text = format!("process {}: {command}\n", std::process::id());
        let written = file
            .set_len(0)
            .and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(StoreError::io("write", &path))?;
        Ok(Self { _file: file })
    }
}

/// What the other process wrote.
fn holder(dir: &Path) -> String {
    // Windows lets nobody read a locked file, and the other process may not have written yet.
    let text = fs::read_to_string(dir.join(LOCK)).unwrap_or_default();
    match text.trim() {
        "" => "one that did not say its number".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_process() {
        let dir = tempfile::tempdir().unwrap();
        // A longer text of a process that is gone.
        fs::write(
            dir.path().join(LOCK),
            "process 1: a very long command".repeat(9),
        )
        .unwrap();
        let lock = FolderLock::acquire(dir.path(), "fedround run").unwrap();
        let error = FolderLock::acquire(dir.path(), "fedround resume").unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
        let own = format!("process {}: fedround run", std::process::id());
        #[cfg(unix)]
        assert!(error.to_string().ends_with(&own), "{error}");
        drop(lock);
        assert_eq!(
            fs::read_to_string(dir.path().join(LOCK)).unwrap().trim(),
            own
        );
        FolderLock::acquire(dir.path(), "fedround resume").unwrap();
    }
}
