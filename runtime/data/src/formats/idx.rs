//! Idx files of bytes.
//!
//! An idx file is a magic number (two zero bytes, the element type, the number of dimensions), each
//! dimension as a big-endian 32-bit integer, and the elements.

use std::path::Path;

use super::files::Stream;
use crate::DataError;
use crate::notes::Notes;

/// The largest number of examples that is accepted of a gzipped file. The longest published one, of EMNIST,
/// has 697,932.
const MOST_EXAMPLES: u64 = 1_000_000;

/// The dimensions and elements of an idx file of bytes with `DIMS` dimensions. An example has `width`
/// bytes, which bounds what a gzipped file may unpack to.
pub(crate) fn parse<const DIMS: usize>(
    path: &Path,
    what: &'static str,
    width: usize,
    notes: &Notes,
) -> Result<([usize; DIMS], Vec<u8>), DataError> {
    let size = 4 + 4 * DIMS as u64;
    let mut stream = Stream::open(path, size + MOST_EXAMPLES * width as u64)?;
    let mut header = Vec::new();
    stream.append(&mut header, size);
    let word = |at: usize| {
        let bytes = header.get(4 * at..4 * at + 4)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*bytes))
    };
    // 8 is the code of unsigned bytes.
    let expected = 0x0800 + DIMS as u32;
    if let Some(found) = word(0).filter(|&found| found != expected) {
        return Err(DataError::Magic {
            path: path.to_path_buf(),
            what,
            expected,
            found,
        });
    }
    let mut shape = [0; DIMS];
    for (i, dim) in shape.iter_mut().enumerate() {
        match word(i + 1) {
            Some(size) => *dim = size as usize,
            None => return Err(stream.wrong_length(size)),
        }
    }
    // Saturating: a corrupt header must not wrap around to the right length.
    let elements = shape
        .iter()
        .fold(1u64, |n, &dim| n.saturating_mul(dim as u64));
    Ok((shape, stream.rest(elements, notes)?))
}
