//! The format of an array: a magic number, a header in the syntax of Python, and the elements.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use half::f16;

use super::elements::{Elements, in_c_order};
use crate::DataError;
use crate::own::{DataLocation, OwnFileError};

/// An array in the order of C.
pub(super) struct Array {
    pub shape: Vec<usize>,
    pub elements: Elements,
}

impl Array {
    /// What it is, for errors.
    pub fn describe(&self) -> String {
        format!("{} of shape {:?}", self.elements.kind(), self.shape)
    }
}

/// The error that an array is not as expected.
pub(super) fn wrong(
    path: &Path,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> DataError {
    OwnFileError::Array {
        path: path.to_path_buf(),
        expected: expected.into(),
        found: found.into(),
    }
    .into()
}

/// Opens a file and tells its length.
pub(super) fn open(path: &Path) -> Result<(BufReader<File>, u64), DataError> {
    if !path.is_file() {
        return Err(DataLocation::missing(path, "a file"));
    }
    let unreadable = DataError::unreadable(path);
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    Ok((BufReader::new(file), length))
}

/// Reads a file.
pub(super) fn read_file(path: &Path) -> Result<Array, DataError> {
    let (file, length) = open(path)?;
    read(file, path, length)
}

/// Reads an array of `length` bytes with its header. Memory is bounded by what the reader gives.
pub(super) fn read(mut from: impl Read, path: &Path, length: u64) -> Result<Array, DataError> {
    let mut take = |n: usize| -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::with_capacity(n.min(1 << 20));
        let piece = from.by_ref().take(n as u64).read_to_end(&mut bytes);
        match piece {
            Ok(found) if found == n => Ok(bytes),
            Ok(found) => Err(wrong(
                path,
                format!("{n} bytes"),
                format!("{found}; the file breaks off"),
            )),
            Err(error) => Err(DataError::unreadable(path)(error)),
        }
    };
    let start = take(8)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err(wrong(path, "an array of NumPy (np.save)", "another format"));
    }
    let size = match start[6] {
        1 => take(2)?,
        _ => take(4)?,
    };
    let head_length = size
        .iter()
        .rev()
        .fold(0usize, |n, &b| n << 8 | usize::from(b));
    if head_length as u64 > length {
        return Err(wrong(
            path,
            "a header",
            format!("one of {head_length} bytes"),
        ));
    }
    let head = take(head_length)?;
    let head = String::from_utf8_lossy(&head);
    let header =
        Header::parse(&head).ok_or_else(|| wrong(path, "a header of NumPy", head.trim()))?;
    let unread = || {
        let expected = "bool, int, uint, float16, float32, float64 or str elements (np.asarray(x, dtype=\"float32\"))";
        wrong(path, expected, format!("dtype {}", header.dtype))
    };
    if !header.is_read() {
        return Err(unread());
    }
    let count = header
        .shape
        .iter()
        .fold(1u64, |n, &dim| n.saturating_mul(dim as u64));
    let expected = count.saturating_mul(header.size as u64);
    let before = (8 + size.len() + head_length) as u64;
    if before.saturating_add(expected) != length {
        let expected = format!(
            "{expected} bytes of elements for the shape {:?}",
            header.shape
        );
        let found = length.saturating_sub(before).to_string();
        return Err(wrong(path, expected, found));
    }
    let mut bytes = take(usize::try_from(expected).unwrap_or(usize::MAX))?;
    if header.fortran && header.shape.len() > 1 {
        bytes = in_c_order(&bytes, &header.shape, header.size);
    }
    let elements = header.elements(bytes).ok_or_else(unread)?;
    if let Some((at, number)) = header.too_large(&elements) {
        let features: usize = header.shape.iter().skip(1).product();
        let expected = format!(
            "whole numbers of at most {} (as float64 or str, larger ones are read)",
            i64::MAX
        );
        let found = format!("{number} in example {}", at / features);
        return Err(wrong(path, expected, found));
    }
    Ok(Array {
        shape: header.shape,
        elements,
    })
}

struct Header {
    dtype: String,
    /// Bytes of an element.
    size: usize,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    fn parse(text: &str) -> Option<Self> {
        let after = |key: &str| Some(text.split_once(key)?.1.split_once(':')?.1.trim_start());
        let descr = after("'descr'")?;
        let dtype = match descr.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'')?.0,
            // That of an array of records.
            None => descr.split_once(", 'fortran_order'")?.0,
        };
        let fortran = after("'fortran_order'")?.starts_with("True");
        let shape = after("'shape'")?.strip_prefix('(')?.split_once(')')?.0;
        let dims = shape
            .split(',')
            .map(str::trim)
            .filter(|dim| !dim.is_empty());
        let shape = dims
            .map(|dim| dim.parse().ok())
            .collect::<Option<Vec<usize>>>()?;
        // A type that is not read may have none.
        let number = dtype.get(2..).and_then(|n| n.parse::<usize>().ok());
        let number = number.unwrap_or(0);
        let size = match dtype.get(1..2)? {
            // Four bytes a character.
            "U" => number.checked_mul(4)?,
            _ => number,
        };
        Some(Self {
            dtype: dtype.to_owned(),
            size,
            fortran,
            shape,
        })
    }

    /// Whether elements of this type are read.
    fn is_read(&self) -> bool {
        self.size > 0 && self.elements(vec![]).is_some()
    }

    /// The first number without a sign that became one below zero, because integers have 63 bits, and its place.
    fn too_large(&self, elements: &Elements) -> Option<(usize, u64)> {
        match elements {
            Elements::Integers(numbers) if self.dtype.ends_with("u8") => {
                let at = numbers.iter().position(|&number| number < 0)?;
                Some((at, numbers[at].cast_unsigned()))
            }
            _ => None,
        }
    }

    /// The elements, or `None` if their type is not one that is read.
    fn elements(&self, mut bytes: Vec<u8>) -> Option<Elements> {
        let big = self.dtype.starts_with('>');
        let kind = self.dtype.get(1..)?;
        // Of texts, characters are swapped.
        let word = if kind.starts_with('U') { 4 } else { self.size };
        if big && word > 1 {
            bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
        }
        macro_rules! of {
            ($from:ty, $variant:ident, $to:ty) => {{
                const SIZE: usize = size_of::<$from>();
                let (chunks, _) = bytes.as_chunks::<SIZE>();
                let each = chunks
                    .iter()
                    .map(|&chunk| <$from>::from_le_bytes(chunk) as $to);
                Elements::$variant(each.collect())
            }};
        }
        Some(match kind {
            "u1" | "b1" => Elements::Bytes(bytes),
            "i1" => of!(i8, Integers, i64),
            "i2" => of!(i16, Integers, i64),
            "i4" => of!(i32, Integers, i64),
            "i8" => of!(i64, Integers, i64),
            "u2" => of!(u16, Integers, i64),
            "u4" => of!(u32, Integers, i64),
            "u8" => of!(u64, Integers, i64),
            "f2" => {
                let (chunks, _) = bytes.as_chunks::<2>();
                let each = chunks
                    .iter()
                    .map(|&chunk| f16::from_le_bytes(chunk).to_f32());
                Elements::Floats(each.collect())
            }
            "f4" => of!(f32, Floats, f32),
            "f8" => of!(f64, Doubles, f64),
            _ if kind.starts_with('U') && self.size > 0 => {
                let text = |chars: &[u8]| -> String {
                    let (chars, _) = chars.as_chunks::<4>();
                    let codes = chars.iter().map(|&c| u32::from_le_bytes(c));
                    let codes = codes.take_while(|&code| code != 0);
                    codes
                        .map(|code| char::from_u32(code).unwrap_or('\u{fffd}'))
                        .collect()
                };
                Elements::Texts(bytes.chunks_exact(self.size).map(text).collect())
            }
            _ => return None,
        })
    }
}
