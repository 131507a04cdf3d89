//! JPEG and PNG files, decoded when they are needed.

mod cache;
mod decode;
mod disk_cache;
mod mark;

use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::DataError;
use cache::Cache;
pub(crate) use decode::{resize, size};
use disk_cache::DiskCache;

/// How a picture is brought to the size of its column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// Height and width are scaled independently.
    #[default]
    Stretch,
    /// The shorter side is scaled to fit, and the longer one is cropped around its middle.
    Crop,
}

/// JPEG and PNG files of any size as images of one shape.
///
/// A file is decoded when its image is gathered, unless the cache holds it. All views of the files share
/// the cache. [`decode_all`](Self::decode_all) decodes all files at once.
#[derive(Debug)]
pub struct ImageFiles {
    paths: Vec<PathBuf>,
    shape: [usize; 3],
    fit: Fit,
    cache: Cache,
    disk: Option<DiskCache>,
}

impl ImageFiles {
    /// Files whose images are brought to `shape`: 1 channel (grey) or 3 channels (red, green and blue),
    /// height and width. There is no cache.
    ///
    /// # Errors
    /// [`DataError::ImageShape`] for another number of channels, or an empty image.
    pub fn new(paths: Vec<PathBuf>, shape: [usize; 3], fit: Fit) -> Result<Self, DataError> {
        if ![1, 3].contains(&shape[0]) || shape[1..].contains(&0) {
            return Err(DataError::ImageShape { shape });
        }
        Ok(Self {
            cache: Cache::new(paths.len(), 0),
            disk: None,
            paths,
            shape,
            fit,
        })
    }

    /// Adds a cache of up to `bytes` bytes. It keeps the images that are gathered first, which is as good
    /// as keeping the latest ones when epochs are shuffled.
    #[must_use]
    pub fn with_cache(mut self, bytes: usize) -> Self {
        self.cache = Cache::new(self.paths.len(), bytes / self.features());
        self
    }

    /// Keeps decoded images in a file, which grows to at most `most` bytes and serves later processes, too. It may
    /// be removed at any time. An image is decoded again if its file has another size or another time of its last
    /// change.
    ///
    /// # Errors
    /// The file cannot be opened or made.
    pub fn keep_on_disk(&mut self, path: &Path, most: u64) -> io::Result<()> {
        let decoding = format!("{:?} {:?}", self.shape, self.fit);
        self.disk = Some(DiskCache::open(path, &decoding, self.features(), most)?);
        Ok(())
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Channels, height and width of an image.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// Every image, decoded on the threads of the current rayon pool: `[len, channels, height,
    /// width]` bytes.
    ///
    /// # Errors
    /// The first file that cannot be read or decoded.
    pub fn decode_all(&self) -> Result<Vec<u8>, DataError> {
        let mut bytes = vec![0; self.len() * self.features()];
        let images = bytes.par_chunks_exact_mut(self.features());
        let decoded = images
            .zip(&self.paths)
            .map(|(image, path)| decode::into(path, self.shape, self.fit, image));
        // The first by its place, and not the one that a thread met first.
        let failed = decoded.find_map_first(Result::err);
        failed.map_or(Ok(bytes), Err)
    }

    /// A mark of the contents of each file in `indices`, which differs from those of other contents; zeros for a file
    /// that cannot be read. They are read on the threads of the current rayon pool.
    pub(crate) fn marks(&self, indices: &[usize]) -> Vec<[u8; 16]> {
        let mark = |&index: &usize| mark::of_file(&self.paths[index]).unwrap_or_default();
        indices.par_iter().map(mark).collect()
    }

    /// Other files with the same shape, without a cache.
    pub(crate) fn resembling(&self, paths: Vec<PathBuf>) -> Result<Self, DataError> {
        Self::new(paths, self.shape, self.fit)
    }

    /// The files that cannot be read or decoded, in their order, with the errors. Every file is read once, on the
    /// threads of the current rayon pool.
    pub(crate) fn broken(&self) -> Vec<(usize, DataError)> {
        let found = (0..self.len()).into_par_iter().map_init(
            || vec![0; self.features()],
            |scratch, index| {
                let read = self.read(index, scratch);
                if read.is_ok() {
                    self.cache.offer(index, scratch);
                }
                read.err().map(|error| (index, error))
            },
        );
        found.flatten_iter().collect()
    }

    /// Reads an image from the disk cache, or else decodes it.
    fn read(&self, index: usize, out: &mut [u8]) -> Result<(), DataError> {
        let path = &self.paths[index];
        let record = self.disk.as_ref().and_then(|disk| disk.record(index, path));
        if record.as_ref().is_some_and(|record| record.read(out)) {
            return Ok(());
        }
        decode::into(path, self.shape, self.fit, out)?;
        if let Some(record) = record {
            record.write(out);
        }
        Ok(())
    }

    /// Calls `each` with the bytes of every image at `indices` and the image's part of `out`.
    ///
    /// # Errors
    /// The first file that cannot be read or decoded.
    pub(crate) fn decode_each(
        &self,
        indices: &[usize],
        out: &mut [f32],
        each: impl Fn(&[u8], &mut [f32]) + Sync,
    ) -> Result<(), DataError> {
        let rows = out.par_chunks_exact_mut(self.features()).zip(indices);
        let done = rows.map_init(
            Vec::new,
            |scratch, (row, &index)| -> Result<(), DataError> {
                if let Some(image) = self.cache.get(index) {
                    each(image, row);
                    return Ok(());
                }
                scratch.resize(self.features(), 0);
                self.read(index, scratch)?;
                each(scratch, row);
                self.cache.offer(index, scratch);
                Ok(())
            },
        );
        done.find_map_first(Result::err).map_or(Ok(()), Err)
    }
}

/// Whether a file is one of JPEG or PNG by its name.
pub(crate) fn is_image(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    let known = ["jpg", "jpeg", "png"];
    known.iter().any(|e| extension.eq_ignore_ascii_case(e))
}

/// Exchanges the rows and the columns of one channel of a square image.
pub(crate) fn transpose(plane: &mut [u8], side: usize) {
    for row in 0..side {
        for column in 0..row {
            plane.swap(row * side + column, column * side + row);
        }
    }
}
