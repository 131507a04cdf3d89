//! Numeric arrays of MATLAB 5 files.
//!
//! A file is a header of 128 bytes followed by elements. An element is a tag (its type and its number
//! of bytes) and that many bytes, padded to a multiple of 8. Up to four bytes may be inside the tag
//! instead. A compressed element (zlib) holds one other element. An array is an element that consists
//! of elements: its class, its dimensions, its name and its numbers. The numbers may be stored in
//! another type than the class.
//!
//! Memory is bounded by the size of the file, whatever its header says, and what compressed elements unpack to
//! by a limit. A file without compression has no such limit.

mod reader;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::DataError;
pub(crate) use reader::wrong;
use reader::{Reader, Tag};

/// Types of elements.
const INT32: u32 = 5;
const UINT32: u32 = 6;
const UINT8: u32 = 2;
const ARRAY: u32 = 14;
const COMPRESSED: u32 = 15;
/// Classes of arrays from here on are of numbers, below they are text, cells and structures.
const FIRST_NUMERIC: u32 = 6;

/// An array of numbers, the first dimension changing fastest.
pub(crate) struct Array {
    pub name: String,
    pub dims: Vec<usize>,
    /// Where it is in the file.
    pub offset: u64,
    element: u32,
    contents: Vec<u8>,
}

/// Every array of numbers of a file. Those that are compressed may have at most `limit` bytes together.
pub(crate) fn arrays(path: &Path, limit: u64) -> Result<Vec<Array>, DataError> {
    let unreadable = DataError::unreadable(path);
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    let file = BufReader::with_capacity(1 << 16, file);
    let mut file = Reader::new(path, file, size);
    let header = file.bytes(128)?;
    if header[124..128] != [0, 1, b'I', b'M'] {
        let expected = "a little-endian MATLAB 5 file (version 0x0100, `IM`)";
        let found = format!("{:02x?}", &header[124..128]);
        return Err(wrong(path, 124, expected, found));
    }
    let (mut arrays, mut left) = (Vec::new(), limit);
    while file.offset < size {
        arrays.extend(element(&mut file, &mut left)?);
    }
    Ok(arrays)
}

/// The next element of a file, if it is an array of numbers. `left` is the number of bytes that compressed
/// elements may still have.
fn element(
    file: &mut Reader<'_, BufReader<File>>,
    left: &mut u64,
) -> Result<Option<Array>, DataError> {
    let start = file.offset;
    let tag = file.tag()?;
    if tag.element != COMPRESSED {
        return array(file, &tag, start);
    }
    // No file unpacks to more than this.
    let most = tag.size.min(file.most).saturating_mul(1032);
    let mut packed = (&mut file.inner).take(tag.size);
    let mut inside = Reader {
        path: file.path,
        inner: ZlibDecoder::new(&mut packed),
        offset: start,
        moving: false,
        most,
        limit: *left,
    };
    let tag_inside = inside.tag()?;
    let found = array(&mut inside, &tag_inside, start)?;
    // To the end of the stream, whose checksum is there.
    inside.skip_to_end()?;
    let rest = packed.limit();
    file.skip(rest)?;
    file.offset = start + 8 + tag.size;
    let taken = found.as_ref().map_or(0, |a| a.contents.len() as u64);
    *left = left.saturating_sub(taken);
    Ok(found)
}

fn array<R: Read>(
    reader: &mut Reader<'_, R>,
    tag: &Tag,
    offset: u64,
) -> Result<Option<Array>, DataError> {
    if tag.element != ARRAY {
        reader.skip(tag.size)?;
        return Ok(None);
    }
    let flags = reader.part("the array's class", UINT32)?;
    let class = flags.first().copied().map_or(0, u32::from);
    if class < FIRST_NUMERIC {
        // 16 bytes are the class and its tag.
        reader.skip(tag.size.saturating_sub(16))?;
        return Ok(None);
    }
    let dims = reader.part("the array's dimensions", INT32)?;
    let dims = dims.chunks_exact(4).map(|b| {
        let size = b.first_chunk::<4>().map_or(-1, |b| i32::from_le_bytes(*b));
        usize::try_from(size).unwrap_or(usize::MAX)
    });
    let dims: Vec<usize> = dims.collect();
    let name = reader.tag()?;
    let name = reader.contents(&name)?;
    let numbers = reader.tag()?;
    let count = dims.iter().fold(1u64, |n, &d| n.saturating_mul(d as u64));
    let expected = width(numbers.element).map(|w| count.saturating_mul(w));
    if expected != Some(numbers.size) {
        let expected = format!("the numbers of an array of {dims:?}");
        let found = format!("{} bytes of type {}", numbers.size, numbers.element);
        return Err(wrong(reader.path, offset, expected, found));
    }
    Ok(Some(Array {
        name: String::from_utf8_lossy(&name).into_owned(),
        dims,
        offset,
        element: numbers.element,
        contents: reader.contents(&numbers)?,
    }))
}

/// Bytes of a number of a type.
fn width(element: u32) -> Option<u64> {
    Some(match element {
        1 | UINT8 => 1,
        3 | 4 => 2,
        INT32 | UINT32 | 7 => 4,
        9 => 8,
        _ => return None,
    })
}

impl Array {
    /// The error that the numbers are of another type.
    fn wrong(&self, path: &Path, expected: String) -> DataError {
        let found = format!("type {}", self.element);
        wrong(path, self.offset, expected, found)
    }

    /// The numbers, which must be bytes.
    pub fn bytes(self, path: &Path) -> Result<Vec<u8>, DataError> {
        if self.element != UINT8 {
            return Err(self.wrong(path, format!("`{}` of bytes (type {UINT8})", self.name)));
        }
        Ok(self.contents)
    }

    /// The numbers, whatever their type.
    pub fn numbers(&self, path: &Path) -> Result<Vec<f64>, DataError> {
        let width = width(self.element).unwrap_or(1) as usize;
        let number = |b: &[u8]| match (self.element, b) {
            (1, &[a]) => Some(f64::from(a as i8)),
            (UINT8, &[a]) => Some(f64::from(a)),
            (3, &[a, b]) => Some(f64::from(i16::from_le_bytes([a, b]))),
            (4, &[a, b]) => Some(f64::from(u16::from_le_bytes([a, b]))),
            (INT32, &[a, b, c, d]) => Some(f64::from(i32::from_le_bytes([a, b, c, d]))),
            (UINT32, &[a, b, c, d]) => Some(f64::from(u32::from_le_bytes([a, b, c, d]))),
            (7, &[a, b, c, d]) => Some(f64::from(f32::from_le_bytes([a, b, c, d]))),
            (9, b) => b.first_chunk().map(|b| f64::from_le_bytes(*b)),
            _ => None,
        };
        let numbers = self.contents.chunks_exact(width).map(number);
        let numbers: Option<Vec<f64>> = numbers.collect();
        numbers.ok_or_else(|| self.wrong(path, format!("numbers in `{}`", self.name)))
    }
}
