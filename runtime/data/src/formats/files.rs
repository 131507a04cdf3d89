//! Reading files that may be gzipped, a piece at a time and no larger than they are.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use md5::{Digest, Md5};

use super::checksums::published;
use crate::DataError;
use crate::notes::Notes;

/// `path` if it exists, or else the file `path.gz`.
pub(crate) fn find(path: &Path) -> Option<PathBuf> {
    let packed = path.with_added_extension("gz");
    match path.exists() {
        true => Some(path.to_path_buf()),
        false => packed.is_file().then_some(packed),
    }
}

/// All bytes of a file, unpacked if its name ends in `.gz`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut stream = Stream::open(path)?;
    let mut bytes = Vec::with_capacity(stream.size_hint());
    stream.append(&mut bytes, u64::MAX);
    stream.end(None, &Notes::default())?;
    Ok(bytes)
}

/// A file that is unpacked as it is read.
pub(crate) struct Stream<'a> {
    path: &'a Path,
    reader: Box<dyn Read>,
    /// The file's own length and, of a packed file, what its last bytes say of the unpacked one.
    size: u64,
    packed: Option<u64>,
    /// Unpacked bytes so far.
    read: u64,
    /// Why reading stopped, where it did. Kept beside what was read, so that an error can say how
    /// many bytes are missing.
    damage: Option<io::Error>,
    digest: Option<(Md5, &'static str)>,
}

/// The most that deflate makes of a byte.
const EXPANSION: u64 = 1032;

impl<'a> Stream<'a> {
    pub fn open(path: &'a Path) -> Result<Self, DataError> {
        let unreadable = |source| DataError::Read {
            path: path.to_path_buf(),
            source,
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let gzipped = path.extension().is_some_and(|e| e == "gz");
        let packed = match gzipped {
            true => Some(unpacked_size(&mut file, size).map_err(unreadable)?),
            false => None,
        };
        let file = BufReader::with_capacity(1 << 16, file);
        let reader: Box<dyn Read> = match gzipped {
            true => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file))),
            false => Box::new(file),
        };
        Ok(Self {
            path,
            reader,
            size,
            packed,
            read: 0,
            damage: None,
            digest: published(path).map(|sum| (Md5::new(), sum)),
        })
    }

    /// How many bytes there probably are, never more than there can be.
    pub fn size_hint(&self) -> usize {
        let hint = self.packed.unwrap_or(self.size);
        usize::try_from(hint.min(self.most())).unwrap_or(0)
    }

    fn most(&self) -> u64 {
        let factor = if self.packed.is_some() { EXPANSION } else { 1 };
        self.size.saturating_mul(factor)
    }

    /// Appends up to `n` bytes; gives their number, which is less only where the file ends or
    /// breaks off.
    pub fn append(&mut self, out: &mut Vec<u8>, n: u64) -> u64 {
        let start = out.len();
        if self.damage.is_none() {
            let piece = (&mut self.reader).take(n).read_to_end(out);
            self.damage = piece.err();
        }
        if let Some((digest, _)) = &mut self.digest {
            digest.update(&out[start..]);
        }
        let found = (out.len() - start) as u64;
        self.read += found;
        found
    }

    /// Fills `out` as far as the file goes; gives how far.
    pub fn fill(&mut self, out: &mut [u8]) -> u64 {
        let mut bytes = Vec::with_capacity(out.len());
        let found = self.append(&mut bytes, out.len() as u64);
        out[..bytes.len()].copy_from_slice(&bytes);
        found
    }

    /// The rest of the file, which must be of `n` bytes, all of them sound.
    pub fn rest(mut self, n: u64, notes: &Notes) -> Result<Vec<u8>, DataError> {
        let room = n.min(self.most());
        let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        let expected = self.read.saturating_add(n);
        self.append(&mut bytes, n);
        self.end(Some(expected), notes)?;
        Ok(bytes)
    }

    /// The error of a file that should have `expected` bytes. Reads on to its end to say how many
    /// it has.
    pub fn wrong_length(mut self, expected: u64) -> DataError {
        if self.damage.is_none() {
            match io::copy(&mut self.reader, &mut io::sink()) {
                Ok(more) => self.read += more,
                Err(error) => self.damage = Some(error),
            }
        }
        DataError::Length {
            path: self.path.to_path_buf(),
            expected,
            found: self.read,
            damaged: self.damage.is_some(),
        }
    }

    /// Checks that the file ends here, after `expected` bytes where that is known, and that
    /// unpacking came to a good end. Notes contents that differ from the published ones.
    pub fn end(mut self, expected: Option<u64>, notes: &Notes) -> Result<(), DataError> {
        let here = self.read;
        self.append(&mut Vec::new(), 1);
        if expected.is_some_and(|n| n != self.read) || self.read != here {
            return Err(self.wrong_length(expected.unwrap_or(here)));
        }
        let path = self.path.to_path_buf();
        match self.damage {
            None => {}
            Some(source) if self.packed.is_some() => {
                let found = self.read;
                return Err(DataError::Gzip {
                    path,
                    expected,
                    found,
                    source,
                });
            }
            Some(source) => return Err(DataError::Read { path, source }),
        }
        if let Some((digest, sum)) = self.digest {
            let found = format!("{:x}", digest.finalize());
            if found != sum {
                notes.add(format!(
                    "{} is not the published file: its contents have md5 {found}, expected {sum}",
                    path.display()
                ));
            }
        }
        Ok(())
    }
}

/// The number of bytes of the last member, modulo 2^32, that a gzip file ends in.
fn unpacked_size(file: &mut File, size: u64) -> io::Result<u64> {
    let mut last = [0; 4];
    if size >= 4 {
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut last)?;
        file.rewind()?;
    }
    Ok(u64::from(u32::from_le_bytes(last)))
}

/// Checks that every label is one of the classes, which are counted from `first`.
pub(crate) fn check_labels(
    path: &Path,
    labels: &[u8],
    first: u8,
    classes: usize,
) -> Result<(), DataError> {
    let good = |&l: &u8| l >= first && usize::from(l - first) < classes;
    match labels.iter().position(|l| !good(l)) {
        None => Ok(()),
        Some(index) => Err(DataError::Label {
            path: path.to_path_buf(),
            index,
            label: labels[index],
            first,
            classes,
        }),
    }
}
