//! Elements of MATLAB files, one after another.

use std::io::Read;
use std::path::Path;

use crate::DataError;

/// The error that a file has something unexpected at `offset`.
pub(crate) fn wrong(
    path: &Path,
    offset: u64,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> DataError {
    DataError::Format {
        path: path.to_path_buf(),
        offset,
        expected: expected.into(),
        found: found.into(),
    }
}

/// What an element is, and how many bytes it has.
pub(super) struct Tag {
    pub element: u32,
    pub size: u64,
    /// The contents of an element that is inside of its tag.
    inside: Option<Vec<u8>>,
}

/// Reads elements in order and knows the offset in the file.
pub(super) struct Reader<'a, R> {
    pub path: &'a Path,
    pub inner: R,
    pub offset: u64,
    /// Whether the offset moves; inside of a compressed element it stays at its start.
    pub moving: bool,
    /// No more bytes can follow.
    pub most: u64,
    /// The largest number of bytes that is accepted of one element.
    pub limit: u64,
}

impl<'a, R: Read> Reader<'a, R> {
    /// At the start of a file of `size` bytes.
    pub fn new(path: &'a Path, inner: R, size: u64) -> Self {
        Self {
            path,
            inner,
            offset: 0,
            moving: true,
            most: size,
            limit: u64::MAX,
        }
    }

    /// The error that there is something unexpected here.
    fn wrong(&self, expected: impl Into<String>, found: String) -> DataError {
        wrong(self.path, self.offset, expected, found)
    }

    pub fn bytes(&mut self, n: u64) -> Result<Vec<u8>, DataError> {
        let room = usize::try_from(n.min(self.most)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(room);
        let read = (&mut self.inner).take(n).read_to_end(&mut bytes);
        let found = match read {
            Ok(_) if bytes.len() as u64 == n => {
                self.offset += if self.moving { n } else { 0 };
                return Ok(bytes);
            }
            Ok(found) => format!("{found} before the end"),
            Err(error) => format!("{} ({error})", bytes.len()),
        };
        Err(self.wrong(format!("{n} more bytes"), found))
    }

    pub fn skip(&mut self, n: u64) -> Result<(), DataError> {
        const PIECE: u64 = 1 << 16;
        let mut left = n;
        while left > 0 {
            left -= self.bytes(left.min(PIECE))?.len() as u64;
        }
        Ok(())
    }

    pub fn skip_to_end(&mut self) -> Result<(), DataError> {
        let mut rest = (&mut self.inner).take(self.limit);
        let found = match std::io::copy(&mut rest, &mut std::io::sink()) {
            Ok(found) if found < self.limit => return Ok(()),
            Ok(found) => format!("more than {found} bytes after its array"),
            Err(error) => error.to_string(),
        };
        Err(self.wrong("the end of a compressed element", found))
    }

    pub fn tag(&mut self) -> Result<Tag, DataError> {
        let bytes = self.bytes(8)?;
        let word = |at: usize| {
            let word = bytes[at..].first_chunk::<4>();
            word.map_or(0, |b| u32::from_le_bytes(*b))
        };
        let (first, second) = (word(0), word(4));
        // The upper half of the first word is 0, or the size of contents inside of the tag.
        Ok(match first >> 16 {
            0 => Tag {
                element: first,
                size: u64::from(second),
                inside: None,
            },
            size => Tag {
                element: first & 0xFFFF,
                size: u64::from(size),
                inside: Some(bytes[4..].iter().copied().take(size as usize).collect()),
            },
        })
    }

    /// An element's contents, past its padding.
    pub fn contents(&mut self, tag: &Tag) -> Result<Vec<u8>, DataError> {
        if let Some(inside) = &tag.inside {
            if inside.len() as u64 == tag.size {
                return Ok(inside.clone());
            }
            return Err(self.wrong("at most 4 bytes inside of a tag", tag.size.to_string()));
        }
        if tag.size > self.limit {
            let expected = format!("at most {} bytes in a compressed element", self.limit);
            return Err(self.wrong(expected, tag.size.to_string()));
        }
        let bytes = self.bytes(tag.size)?;
        self.skip(tag.size.next_multiple_of(8) - tag.size)?;
        Ok(bytes)
    }

    pub fn part(&mut self, what: &str, element: u32) -> Result<Vec<u8>, DataError> {
        let tag = self.tag()?;
        if tag.element != element {
            let expected = format!("{what} (type {element})");
            return Err(self.wrong(expected, format!("type {}", tag.element)));
        }
        self.contents(&tag)
    }
}
