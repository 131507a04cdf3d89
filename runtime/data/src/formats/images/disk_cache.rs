//! A file of decoded images, which outlives the process.
//!
//! Each image has a record: a checksum of 8 bytes, then the image's bytes. The checksum also covers how images
//! are decoded, and the path, the size and the time of the last change of the image file. A record that was
//! never written, that is damaged, or whose image file has changed does not match its checksum, and the image
//! is decoded again. So the file has no index, any process may write to it at any time, and memory does not grow
//! with the number of images.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// A file with a record for each image, as far as it may grow.
#[derive(Debug)]
pub(super) struct DiskCache {
    file: Mutex<File>,
    /// The bytes of an image.
    features: usize,
    /// The checksum of how images are decoded.
    stamp: u64,
    /// Only so many images have a record.
    images: usize,
    /// Writing has failed, as on a full disk.
    failed: AtomicBool,
}

/// The place of one image in the cache.
pub(super) struct Record<'a> {
    cache: &'a DiskCache,
    offset: u64,
    stamp: u64,
}

const CHECKSUM: usize = 8;

/// Changes when images come to be decoded otherwise.
const VERSION: u64 = 2;

impl DiskCache {
    /// Opens or makes the file, for images that are decoded as `decoding` says. It grows to at most `most` bytes.
    pub fn open(path: &Path, decoding: &str, features: usize, most: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut stamp = Checksum(VERSION);
        stamp.add(decoding.as_bytes());
        let images = most / (features + CHECKSUM) as u64;
        Ok(Self {
            file: Mutex::new(options.open(path)?),
            features,
            stamp: stamp.0,
            images: usize::try_from(images).unwrap_or(usize::MAX),
            failed: AtomicBool::new(false),
        })
    }

    /// The record of the image in the file `path`, unless the cache has no room for it or the file cannot be
    /// found.
    pub fn record(&self, index: usize, path: &Path) -> Option<Record<'_>> {
        let metadata = fs::metadata(path).ok()?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mut stamp = Checksum(self.stamp);
        stamp.add(path.as_os_str().as_encoded_bytes());
        stamp.add(&metadata.len().to_le_bytes());
        stamp.add(&changed.as_nanos().to_le_bytes());
        (index < self.images).then_some(Record {
            cache: self,
            offset: index as u64 * (self.features + CHECKSUM) as u64,
            stamp: stamp.0,
        })
    }
}

impl Record<'_> {
    /// Reads the image, if it is there.
    pub fn read(&self, out: &mut [u8]) -> bool {
        let mut sum = [0; CHECKSUM];
        let mut read = || {
            let mut file = self
                .cache
                .file
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_exact(&mut sum)?;
            // Never written, so far.
            if sum == [0; CHECKSUM] {
                return Err(io::ErrorKind::NotFound.into());
            }
            file.read_exact(out)
        };
        let read: io::Result<()> = read();
        read.is_ok() && sum == self.sum(out)
    }

    /// Writes the image. Whatever goes wrong costs time and no more, so the first error ends all writing.
    pub fn write(&self, image: &[u8]) {
        if self.cache.failed.load(Ordering::Relaxed) {
            return;
        }
        let record = [&self.sum(image), image].concat();
        let mut file = self
            .cache
            .file
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let written = file.seek(SeekFrom::Start(self.offset));
        if written.and_then(|_| file.write_all(&record)).is_err() {
            self.cache.failed.store(true, Ordering::Relaxed);
        }
    }

    fn sum(&self, image: &[u8]) -> [u8; CHECKSUM] {
        let mut sum = Checksum(self.stamp);
        sum.add(image);
        // Zeros are where nothing was written.
        sum.0.max(1).to_le_bytes()
    }
}

/// A quick checksum against damage. It does not withstand intent.
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut mix = |word: u64| {
            self.0 = (self.0 ^ word).wrapping_mul(MULTIPLIER);
            self.0 ^= self.0 >> 29;
        };
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        words.for_each(|word| mix(word.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b))));
        rest.iter().for_each(|&byte| mix(u64::from(byte)));
        mix(bytes.len() as u64);
    }
}
