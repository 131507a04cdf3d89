//! Files that are written whole or not at all.
//!
//! The bytes go to a temporary file in the same folder, which is flushed to the disk and then renamed.
//! A process that is killed in between leaves the old file, or none, and at most a temporary file
//! that the next write replaces.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
#[cfg(unix)]
use crate::space::folder;

/// Writes a file of these pieces, one after another, and replaces the file that is there. When this
/// returns, the file is on the disk, also after a loss of power.
///
/// Two processes must not write the same file at the same time.
///
/// # Errors
///
/// [`StoreError::NoSpace`] on a full disk, [`StoreError::Io`] otherwise. The file is then as it was.
pub fn write_atomically(path: &Path, pieces: &[&[u8]]) -> Result<(), StoreError> {
    write_with(path, pieces, 0o666)
}

/// `mode` is of a new file, before the process's mask.
fn write_with(path: &Path, pieces: &[&[u8]], mode: u32) -> Result<(), StoreError> {
    let temporary = temporary(path);
    let written = write(&temporary, pieces, mode).and_then(|()| fs::rename(&temporary, path));
    let flushed = written.and_then(|()| flush_folder(path));
    flushed.map_err(|error| {
        // What is left of it is of no use; the first error is the one that counts.
        let _ = fs::remove_file(&temporary);
        let needed = pieces.iter().map(|piece| piece.len() as u64).sum();
        StoreError::write(path, needed)(error)
    })
}

/// Writes a file as [`write_atomically`] does, which only its owner may read: keys and tokens. (On other
/// systems than Unix, whoever may read the folder may read the file.)
///
/// # Errors
///
/// As [`write_atomically`].
pub fn write_secret(path: &Path, pieces: &[&[u8]]) -> Result<(), StoreError> {
    write_with(path, pieces, 0o600)
}

/// `.NAME.partial` beside the file.
fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".partial");
    path.with_file_name(name)
}

fn write(path: &Path, pieces: &[&[u8]], mode: u32) -> io::Result<()> {
    // One that a killed process left may have another mode.
    if mode != 0o666 {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let mut file = options(mode)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    pieces.iter().try_for_each(|piece| file.write_all(piece))?;
    file.sync_all()
}

#[cfg(unix)]
fn options(mode: u32) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    let mut options = OpenOptions::new();
    options.mode(mode);
    options
}

#[cfg(not(unix))]
fn options(_mode: u32) -> OpenOptions {
    OpenOptions::new()
}

/// Makes the file's name as durable as its contents.
#[cfg(unix)]
fn flush_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all()
}

/// Windows opens no folders, and writes names with the contents.
#[cfg(not(unix))]
fn flush_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        // What a killed process left.
        fs::write(temporary(&path), b"half of a much longer text").unwrap();
        for text in ["one", "another"] {
            let (head, rest) = text.as_bytes().split_at(2);
            write_atomically(&path, &[head, rest]).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn secrets_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        // What a killed process left, and an old file, that anyone may read.
        fs::write(temporary(&path), b"old").unwrap();
        fs::write(&path, b"old").unwrap();
        write_secret(&path, &[b"new"]).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(
            (mode & 0o777, fs::read(&path).unwrap()),
            (0o600, b"new".to_vec())
        );
    }

    #[test]
    fn a_file_that_cannot_be_replaced_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("taken");
        fs::create_dir(&path).unwrap();
        let error = write_atomically(&path, &[b"text"]).unwrap_err();
        assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
        assert!(error.to_string().contains("taken"), "{error}");
        assert_eq!(names(dir.path()), ["taken"]);
    }

    /// Linux has a file that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_with_its_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(&path, b"old").unwrap();
        std::os::unix::fs::symlink("/dev/full", temporary(&path)).unwrap();
        let error = write_atomically(&path, &[b"longer", b" text"]).unwrap_err();
        let StoreError::NoSpace { needed, free, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(*needed, 11);
        assert!(free.is_some());
        assert!(error.to_string().contains("needs 11 bytes"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["a.txt"]);
    }
}
