//! Files that may be gzipped, read piece by piece.
//!
//! Memory is bounded by the size of the file, whatever its header says. A gzipped file may unpack to a
//! thousand times its size, so each format also says how much it accepts of one. A plain file has no such
//! limit: someone with a larger file than published can unpack it.

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

/// Four times the longest published file of records or of lines: 15 MB, of USPS.
pub(crate) const MOST_TEXT: u64 = 1 << 26;

/// How many bytes a packed file of a user's own may unpack to: twenty times its size, since tables seldom pack
/// better. A small file may unpack to as much as a published one, and none to more than 4 GiB.
pub(crate) fn own_limit(packed: u64) -> u64 {
    packed.saturating_mul(20).clamp(MOST_TEXT, 1 << 32)
}

/// All bytes of a file, unpacked if its name ends in `.gz`; then to at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, DataError> {
    let mut stream = Stream::open(path, most)?;
    let mut bytes = Vec::with_capacity(stream.size_hint());
    stream.append(&mut bytes, u64::MAX);
    stream.end(None, &Notes::default())?;
    Ok(bytes)
}

/// A file that is unpacked as it is read.
pub(crate) struct Stream<'a> {
    path: &'a Path,
    reader: Box<dyn Read>,
    /// The length of the file and, for a packed one, the unpacked length that its last bytes give.
    size: u64,
    packed: Option<u64>,
    /// The largest number of unpacked bytes that is accepted of a packed file.
    limit: u64,
    /// Unpacked bytes so far.
    read: u64,
    /// Why reading stopped early, if it did. Kept until the end of the file is due, so that the error can
    /// say how many bytes are missing.
    damage: Option<io::Error>,
    digest: Option<(Md5, &'static str)>,
}

/// The largest number of bytes that one byte can unpack to in deflate.
const EXPANSION: u64 = 1032;

impl<'a> Stream<'a> {
    /// Opens a file. If it is packed, it may unpack to at most `limit` bytes.
    pub fn open(path: &'a Path, limit: u64) -> Result<Self, DataError> {
        let unreadable = DataError::unreadable(path);
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
            limit: if gzipped { limit } else { u64::MAX },
            read: 0,
            damage: None,
            digest: published(path).map(|sum| (Md5::new(), sum)),
        })
    }

    /// The probable number of unpacked bytes. It never exceeds what the file can unpack to.
    pub fn size_hint(&self) -> usize {
        let hint = self.packed.unwrap_or(self.size);
        usize::try_from(hint.min(self.most())).unwrap_or(0)
    }

    fn most(&self) -> u64 {
        let factor = if self.packed.is_some() { EXPANSION } else { 1 };
        self.size.saturating_mul(factor).min(self.limit)
    }

    /// Lowers the number of unpacked bytes that is accepted of a packed file.
    pub fn limit_to(&mut self, limit: u64) {
        if self.packed.is_some() {
            self.limit = self.limit.min(limit);
        }
    }

    /// Appends up to `n` bytes and returns their number. It is less than `n` only if the file ends, breaks
    /// off or goes over its limit.
    pub fn append(&mut self, out: &mut Vec<u8>, n: u64) -> u64 {
        let start = out.len();
        // One more byte than the limit shows that the file goes over it.
        let n = n.min(self.limit.saturating_add(1) - self.read);
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

    /// Fills `out` as far as the file goes and returns the number of bytes.
    pub fn fill(&mut self, out: &mut [u8]) -> u64 {
        let mut bytes = Vec::with_capacity(out.len());
        let found = self.append(&mut bytes, out.len() as u64);
        out[..bytes.len()].copy_from_slice(&bytes);
        found
    }

    /// The rest of the file, which must have exactly `n` bytes.
    pub fn rest(mut self, n: u64, notes: &Notes) -> Result<Vec<u8>, DataError> {
        let expected = self.read.saturating_add(n);
        if expected > self.limit {
            return Err(self.too_large(format!("{expected} by its header")));
        }
        let room = n.min(self.most());
        let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        self.append(&mut bytes, n);
        self.end(Some(expected), notes)?;
        Ok(bytes)
    }

    fn too_large(&self, found: String) -> DataError {
        DataError::Unpacked {
            path: self.path.to_path_buf(),
            limit: self.limit,
            found,
        }
    }

    /// The error that the file should have `expected` bytes. Reads to the end, or to the limit, to tell how
    /// many it has.
    pub fn wrong_length(mut self, expected: u64) -> DataError {
        if self.damage.is_none() {
            let left = self.limit.saturating_add(1) - self.read;
            match io::copy(&mut (&mut self.reader).take(left), &mut io::sink()) {
                Ok(more) => self.read += more,
                Err(error) => self.damage = Some(error),
            }
        }
        if self.read > self.limit {
            return self.too_large("more".to_owned());
        }
        DataError::Length {
            path: self.path.to_path_buf(),
            expected,
            found: self.read,
            damaged: self.damage.is_some(),
        }
    }

    /// Checks that the file ends here, after `expected` bytes if that is known, and that it was unpacked
    /// without errors. Adds a note if the contents differ from the published ones.
    pub fn end(mut self, expected: Option<u64>, notes: &Notes) -> Result<(), DataError> {
        let here = self.read;
        self.append(&mut Vec::new(), 1);
        if self.read > self.limit {
            return Err(self.too_large("more".to_owned()));
        }
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

/// The unpacked size that a gzip file ends with: that of its last member, modulo 2³².
fn unpacked_size(file: &mut File, size: u64) -> io::Result<u64> {
    let mut last = [0; 4];
    if size >= 4 {
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut last)?;
        file.rewind()?;
    }
    Ok(u64::from(u32::from_le_bytes(last)))
}

/// Checks that every label is one of the classes, which count from `first`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn the_limit_of_own_files_follows_their_size() {
        let mib = 1 << 20;
        assert_eq!(own_limit(1000), 64 * mib);
        assert_eq!(own_limit(45 * mib), 900 * mib);
        assert_eq!(own_limit(1 << 40), 1 << 32);

        // Stored rather than compressed, which is quick.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
        (0..65).for_each(|_| encoder.write_all(&[b'1'; 1 << 20]).unwrap());
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        let packed = std::fs::metadata(&path).unwrap().len();
        assert_eq!(read(&path, own_limit(packed)).unwrap().len(), 65 << 20);
        assert!(matches!(
            read(&path, MOST_TEXT),
            Err(DataError::Unpacked { .. })
        ));
    }
}
