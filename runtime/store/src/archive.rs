//! A versioned file of named parts, each with a checksum.
//!
//! ```text
//! magic "FEDROUND"   8 bytes
//! version            4 bytes, little-endian, as all numbers
//! length of table    8 bytes
//! SHA-256 of table  32 bytes
//! table              of each part: its name, its length and the SHA-256 of its bytes, in MessagePack
//! parts              one after another, in the table's order
//! ```
//!
//! Every byte is covered: by the magic, the version, a checksum, or the length of the file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::archive_error::ArchiveError;
use crate::atomic::write_atomically;
use crate::error::StoreError;

const MAGIC: &[u8; 8] = b"FEDROUND";
/// The version of the layout above. What parts hold has versions of its own.
const VERSION: u32 = 1;
/// Bytes before the table.
const HEADER: usize = 8 + 4 + 8 + 32;

/// Named values, each serialised on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    parts: BTreeMap<String, Vec<u8>>,
}

/// A row of the table.
#[derive(Deserialize, Serialize)]
struct Entry {
    name: String,
    length: u64,
    checksum: [u8; 32],
}

impl Archive {
    /// Sets a part.
    ///
    /// # Errors
    ///
    /// [`ArchiveError::Content`] if the value cannot be serialised.
    pub fn insert(&mut self, part: &str, value: &impl Serialize) -> Result<(), ArchiveError> {
        let bytes = rmp_serde::to_vec_named(value).map_err(content(part))?;
        self.parts.insert(part.to_owned(), bytes);
        Ok(())
    }

    /// Reads a part.
    ///
    /// # Errors
    ///
    /// [`ArchiveError::Missing`] or [`ArchiveError::Content`].
    pub fn get<T: DeserializeOwned>(&self, part: &str) -> Result<T, ArchiveError> {
        self.find(part)?.ok_or_else(|| ArchiveError::Missing {
            part: part.to_owned(),
        })
    }

    /// Reads a part; `None` if it is not there, as in archives of earlier versions.
    ///
    /// # Errors
    ///
    /// [`ArchiveError::Content`].
    pub fn find<T: DeserializeOwned>(&self, part: &str) -> Result<Option<T>, ArchiveError> {
        let bytes = self.parts.get(part);
        let value = bytes.map(|bytes| rmp_serde::from_slice(bytes).map_err(content(part)));
        value.transpose()
    }

    /// Writes a file, whole or not at all, and replaces the one that is there. Gives its size in
    /// bytes.
    ///
    /// # Errors
    ///
    /// As [`write_atomically`].
    pub fn write(&self, path: &Path) -> Result<u64, StoreError> {
        let broken = |source| StoreError::Archive {
            path: path.to_owned(),
            source,
        };
        let head = self.head().map_err(broken)?;
        let parts = self.parts.values().map(Vec::as_slice);
        let pieces: Vec<&[u8]> = std::iter::once(&head[..]).chain(parts).collect();
        write_atomically(path, &pieces)?;
        Ok(pieces.iter().map(|piece| piece.len() as u64).sum())
    }

    /// Reads a file and checks all of it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Archive`] if the file is damaged or is no archive, otherwise
    /// [`StoreError::Io`].
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let bytes = fs::read(path).map_err(StoreError::io("read", path))?;
        Self::from_bytes(&bytes).map_err(|source| StoreError::Archive {
            path: path.to_owned(),
            source,
        })
    }

    /// Everything before the parts.
    fn head(&self) -> Result<Vec<u8>, ArchiveError> {
        let entry = |(name, bytes): (&String, &Vec<u8>)| Entry {
            name: name.clone(),
            length: bytes.len() as u64,
            checksum: Sha256::digest(bytes).into(),
        };
        let table: Vec<Entry> = self.parts.iter().map(entry).collect();
        let table = rmp_serde::to_vec(&table).map_err(content("table"))?;
        let mut head = Vec::with_capacity(HEADER + table.len());
        head.extend(MAGIC);
        head.extend(VERSION.to_le_bytes());
        head.extend((table.len() as u64).to_le_bytes());
        head.extend(Sha256::digest(&table));
        head.extend(table);
        Ok(head)
    }

    /// Reads an archive from memory and checks all of it.
    ///
    /// # Errors
    ///
    /// The bytes are no archive, one of a later version, or a damaged one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ArchiveError::Magic)?;
        let short = |expected| ArchiveError::Length {
            expected,
            found: bytes.len() as u64,
        };
        let header = || short(HEADER as u64);
        let (version, rest) = rest.split_first_chunk().ok_or_else(header)?;
        let found = u32::from_le_bytes(*version);
        if found != VERSION {
            let newest = VERSION;
            return Err(ArchiveError::Version { found, newest });
        }
        let (length, rest) = rest.split_first_chunk().ok_or_else(header)?;
        let (checksum, rest) = rest.split_first_chunk::<32>().ok_or_else(header)?;
        let length = u64::from_le_bytes(*length);
        let table = usize::try_from(length).ok().and_then(|n| rest.get(..n));
        let table = table.ok_or_else(|| short(length.saturating_add(HEADER as u64)))?;
        check(table, checksum, "table")?;
        let entries: Vec<Entry> = rmp_serde::from_slice(table).map_err(content("table"))?;
        let mut rest = &rest[table.len()..];
        let lengths = entries.iter().map(|entry| entry.length);
        let expected = lengths.fold((HEADER + table.len()) as u64, u64::saturating_add);
        if expected != bytes.len() as u64 {
            return Err(short(expected));
        }
        let mut parts = BTreeMap::new();
        for entry in entries {
            let part = usize::try_from(entry.length).ok();
            let part = part.and_then(|n| rest.split_at_checked(n));
            let (part, after) = part.ok_or_else(|| short(expected))?;
            check(part, &entry.checksum, &format!("part `{}`", entry.name))?;
            parts.insert(entry.name, part.to_vec());
            rest = after;
        }
        Ok(Self { parts })
    }
}

fn check(bytes: &[u8], expected: &[u8; 32], part: &str) -> Result<(), ArchiveError> {
    match Sha256::digest(bytes)[..] == expected[..] {
        true => Ok(()),
        false => Err(ArchiveError::Checksum {
            part: part.to_owned(),
        }),
    }
}

fn content<E: ToString>(part: &str) -> impl Fn(E) -> ArchiveError {
    move |error| ArchiveError::Content {
        part: part.to_owned(),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{ElementType, TensorBytes};

    fn archive() -> Archive {
        let mut archive = Archive::default();
        let tensor = TensorBytes {
            element: ElementType::F32,
            shape: vec![2, 3],
            data: (0..24).collect(),
        };
        archive.insert("tensors", &vec![tensor]).unwrap();
        archive
            .insert("numbers", &[f64::NAN, -0.0, 1e-310, 0.1])
            .unwrap();
        archive.insert("nothing", &()).unwrap();
        archive
    }

    fn bytes(archive: &Archive) -> Vec<u8> {
        let parts = archive.parts.values().flatten().copied();
        archive.head().unwrap().into_iter().chain(parts).collect()
    }

    #[test]
    fn a_file_gives_back_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ckpt");
        let archive = archive();
        let size = archive.write(&path).unwrap();
        assert_eq!(size, fs::metadata(&path).unwrap().len());
        let read = Archive::read(&path).unwrap();
        assert_eq!(read, archive);
        let tensors: Vec<TensorBytes> = read.get("tensors").unwrap();
        assert_eq!(tensors[0].shape, [2, 3]);
        let numbers: Vec<f64> = read.get("numbers").unwrap();
        let bits = |x: &f64| x.to_bits();
        let expected = [f64::NAN, -0.0, 1e-310, 0.1];
        assert!(numbers.iter().map(bits).eq(expected.iter().map(bits)));
        let missing = read.get::<()>("others").unwrap_err();
        assert_eq!(missing.to_string(), "it has no part `others`");
        let other = read.get::<String>("numbers").unwrap_err();
        assert!(matches!(other, ArchiveError::Content { .. }), "{other:?}");
    }

    /// Every byte of this file, in every way that flips bits of one alone or all.
    #[test]
    fn no_changed_byte_is_taken() {
        let good = bytes(&archive());
        for at in 0..good.len() {
            for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                assert!(Archive::from_bytes(&bad).is_err(), "byte {at}, flip {flip}");
            }
        }
    }

    #[test]
    fn no_cut_or_longer_file_is_taken() {
        let good = bytes(&archive());
        assert!(Archive::from_bytes(&good).is_ok());
        for length in 0..good.len() {
            assert!(Archive::from_bytes(&good[..length]).is_err(), "{length}");
        }
        let longer = [&good[..], &[0]].concat();
        let error = Archive::from_bytes(&longer).unwrap_err();
        assert!(matches!(error, ArchiveError::Length { .. }), "{error:?}");
    }

    /// Tables that lie about lengths, with a right checksum.
    #[test]
    fn lengths_that_lie_are_errors() {
        for length in [0, 1, 1 << 40, u64::MAX] {
            let entry = |name: &str| Entry {
                name: name.to_owned(),
                length,
                checksum: [0; 32],
            };
            let table = rmp_serde::to_vec(&[entry("a"), entry("b")]).unwrap();
            let mut file = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
            file.extend((table.len() as u64).to_le_bytes());
            file.extend(Sha256::digest(&table));
            file.extend(&table);
            assert!(Archive::from_bytes(&file).is_err(), "{length}");
            let at = MAGIC.len() + 4;
            file[at..at + 8].copy_from_slice(&length.to_le_bytes());
            assert!(Archive::from_bytes(&file).is_err(), "{length}");
        }
    }

    #[test]
    fn a_later_version_is_named() {
        let mut later = bytes(&archive());
        later[MAGIC.len()] = 2;
        let error = Archive::from_bytes(&later).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
    }
}
