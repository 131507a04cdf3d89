//! Arrays as `.npy` files, the bytes that Flower's `Array` carries.

use bytes::Bytes;
use thiserror::Error;

use super::header::{Header, HeaderError};
use super::{Array, ArrayError, byte_count};

const MAGIC: &[u8] = b"\x93NUMPY";
/// The data begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// Bytes that are no `.npy` file, or one that is not supported.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NpyError {
    /// The file does not begin as `.npy` files do.
    #[error("the bytes of an array are no .npy file: they do not begin with its signature")]
    Signature,
    /// A version of the format other than 1, 2 and 3.
    #[error("version {found} of the .npy format is not supported, expected 1, 2 or 3")]
    Version {
        /// The version.
        found: u8,
    },
    /// The file ends in its header.
    #[error("a .npy file of {found} bytes ends within its header")]
    Truncated {
        /// The file's bytes.
        found: usize,
    },
    /// The header cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The data does not fit the header.
    #[error(transparent)]
    Array(#[from] ArrayError),
}

/// The beginning of an array's `.npy` file, as NumPy writes it. The elements follow.
pub(crate) fn npy_header(array: &Array) -> Vec<u8> {
    let text = Header::text(array.dtype(), array.shape());
    // Versions differ in the bytes of the header's length. Only thousands of dimensions need four.
    let long = text.len() + ALIGNMENT > usize::from(u16::MAX);
    let before = MAGIC.len() + 2 + if long { 4 } else { 2 };
    let end = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
    let length = end - before;
    let mut file = Vec::with_capacity(end);
    file.extend_from_slice(MAGIC);
    if long {
        file.extend_from_slice(&[2, 0]);
        file.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    } else {
        file.extend_from_slice(&[1, 0]);
        file.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    }
    file.extend_from_slice(text.as_bytes());
    file.resize(end - 1, b' ');
    file.push(b'\n');
    file
}

/// The array of a `.npy` file. The bytes are shared with it, not copied, unless its first
/// dimension varies fastest.
pub(crate) fn decode(file: &Bytes) -> Result<Array, NpyError> {
    let truncated = || NpyError::Truncated { found: file.len() };
    if !file.starts_with(MAGIC) {
        return Err(NpyError::Signature);
    }
    let version = *file.get(MAGIC.len()).ok_or_else(truncated)?;
    let digits = match version {
        1 => 2,
        2 | 3 => 4,
        found => return Err(NpyError::Version { found }),
    };
    let start = MAGIC.len() + 2 + digits;
    let length = file.get(MAGIC.len() + 2..start).ok_or_else(truncated)?;
    let length = length
        .iter()
        .rev()
        .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let end = start.checked_add(length).ok_or_else(truncated)?;
    let header = file.get(start..end).ok_or_else(truncated)?;
    let header = Header::parse(&String::from_utf8_lossy(header))?;
    let data = file.slice(end..);
    if !header.fortran {
        return Ok(Array::new(header.dtype, header.shape, data)?);
    }
    let reversed = header.shape.iter().rev().copied().collect();
    let transposed = Array::new(header.dtype, reversed, data)?;
    let bytes = last_dimension_fastest(&transposed, &header.shape);
    Ok(Array::new(header.dtype, header.shape, bytes)?)
}

/// The elements of `array`, which is the transpose of one of shape `shape`, in the order of the
/// latter.
fn last_dimension_fastest(array: &Array, shape: &[usize]) -> Vec<u8> {
    let size = array.dtype().size();
    let mut strides = vec![];
    let mut stride = size;
    for length in shape {
        strides.push(stride);
        stride = stride.saturating_mul(*length);
    }
    let total = byte_count(array.dtype(), shape).unwrap_or_default();
    let mut bytes = Vec::with_capacity(total);
    let mut index = vec![0; shape.len()];
    while bytes.len() < total {
        let at = index
            .iter()
            .zip(&strides)
            .map(|(i, s)| i * s)
            .sum::<usize>();
        bytes.extend_from_slice(&array.bytes()[at..at + size]);
        for (dimension, length) in shape.iter().enumerate().rev() {
            index[dimension] += 1;
            if index[dimension] < *length {
                break;
            }
            index[dimension] = 0;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Dtype;

    /// `numpy.save` of `arange(6, dtype="<f4").reshape(2, 3)`.
    fn numpy_file(text: &str, data: &[u8]) -> Bytes {
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        file.extend_from_slice(format!("{text:117}\n").as_bytes());
        file.extend_from_slice(data);
        file.into()
    }

    fn encode(array: &Array) -> Bytes {
        [npy_header(array), array.bytes().to_vec()].concat().into()
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    #[test]
    fn files_are_those_of_numpy() {
        let data = floats(&[0., 1., 2., 3., 4., 5.]);
        let array = Array::new(Dtype::F32, vec![2, 3], data.clone()).unwrap();
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        assert_eq!(encode(&array), numpy_file(text, &data));
        assert_eq!(decode(&numpy_file(text, &data)).unwrap(), array);
    }

    #[test]
    fn fortran_order_becomes_the_order_of_c() {
        let text = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
        let file = numpy_file(text, &floats(&[0., 3., 1., 4., 2., 5.]));
        let expected = floats(&[0., 1., 2., 3., 4., 5.]);
        assert_eq!(
            decode(&file).unwrap(),
            Array::new(Dtype::F32, vec![2, 3], expected).unwrap()
        );
    }

    #[test]
    fn every_type_and_rank_comes_back() {
        for dtype in Dtype::ALL {
            for shape in [vec![], vec![0], vec![3], vec![2, 1, 2], vec![1; 3000]] {
                let bytes = vec![1; byte_count(dtype, &shape).unwrap()];
                let array = Array::new(dtype, shape, bytes).unwrap();
                assert_eq!(decode(&encode(&array)).unwrap(), array);
            }
        }
    }

    #[test]
    fn other_types_are_refused_by_name() {
        for code in ["<f2", ">f4", "<c8", "|O", "<U3"] {
            let text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': (), }}");
            let error = decode(&numpy_file(&text, &[0; 4])).unwrap_err();
            assert!(error.to_string().contains(code), "{error}");
        }
    }

    #[test]
    fn a_shape_that_overflows_is_refused() {
        for fortran in ["False", "True"] {
            let shape = format!("({}, 2)", usize::MAX);
            let text =
                format!("{{'descr': '<f4', 'fortran_order': {fortran}, 'shape': {shape}, }}");
            let error = decode(&numpy_file(&text, &[0; 8])).unwrap_err();
            assert!(
                matches!(error, NpyError::Array(ArrayError::Shape { .. })),
                "{error}"
            );
        }
    }

    #[test]
    fn truth_values_are_0_or_1() {
        let error = Array::new(Dtype::Bool, vec![2], vec![1, 2]).unwrap_err();
        assert_eq!(error, ArrayError::Bool { index: 1, value: 2 });
    }
}
