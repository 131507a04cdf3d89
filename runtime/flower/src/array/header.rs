//! The header of a `.npy` file: a Python dictionary with the keys `descr`, `fortran_order` and
//! `shape`.

use thiserror::Error;

use super::Dtype;

/// NumPy reserves room for the first dimension to grow to this many digits.
const GROWTH_DIGITS: usize = 21;

/// A header's meaning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    /// Whether the first dimension varies fastest.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// A header that this crate cannot read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HeaderError {
    /// No dictionary of the three entries.
    #[error(
        "the header of a .npy array is {found:?}, expected a dictionary of descr, fortran_order and shape"
    )]
    Syntax {
        /// The header's beginning.
        found: String,
    },
    /// Elements of another type.
    #[error(
        "arrays of NumPy's type {found} are not supported, expected one of float32, float64, int32, int64, uint8 and bool in little-endian order"
    )]
    Dtype {
        /// NumPy's code of the type, such as `<f2`.
        found: String,
    },
}

impl Header {
    /// The text as NumPy writes it, without the spaces at its end.
    pub(super) fn text(dtype: Dtype, shape: &[usize]) -> String {
        let lengths: Vec<_> = shape.iter().map(ToString::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let room = lengths
            .first()
            .map_or(0, |first| GROWTH_DIGITS.saturating_sub(first.len()));
        format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}{}",
            dtype.code(),
            lengths.join(", "),
            " ".repeat(room),
        )
    }

    pub(super) fn parse(text: &str) -> Result<Self, HeaderError> {
        let syntax = || HeaderError::Syntax {
            found: text.chars().take(120).collect(),
        };
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        for (key, value) in entries(text).ok_or_else(syntax)? {
            let first = match key {
                "'descr'" => descr.replace(value).is_none(),
                "'fortran_order'" => fortran.replace(value).is_none(),
                "'shape'" => shape.replace(value).is_none(),
                _ => false,
            };
            if !first {
                return Err(syntax());
            }
        }
        let (Some(descr), Some(fortran), Some(shape)) = (descr, fortran, shape) else {
            return Err(syntax());
        };
        let code = descr.trim_matches('\'');
        let dtype = Dtype::ALL.into_iter().find(|dtype| dtype.code() == code);
        Ok(Self {
            dtype: dtype.ok_or_else(|| HeaderError::Dtype {
                found: code.to_owned(),
            })?,
            fortran: match fortran {
                "True" => true,
                "False" => false,
                _ => return Err(syntax()),
            },
            shape: lengths(shape).ok_or_else(syntax)?,
        })
    }
}

/// `{'a': 1, 'b': (2, 3), }` as `'a'`, `1` and `'b'`, `(2, 3)`.
fn entries(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut found = vec![];
    while !rest.is_empty() {
        let (key, after) = rest.split_once(':')?;
        let after = after.trim_start();
        let end = if after.starts_with('(') {
            after.find(')')? + 1
        } else {
            after.find(',').unwrap_or(after.len())
        };
        let (value, after) = after.split_at(end);
        found.push((key.trim(), value.trim()));
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.is_empty() => after,
            None => return None,
        };
    }
    Some(found)
}

/// `(2, 3)`, `(2,)` or `()`.
fn lengths(tuple: &str) -> Option<Vec<usize>> {
    let inside = tuple.strip_prefix('(')?.strip_suffix(')')?.trim();
    if inside.is_empty() {
        return Some(vec![]);
    }
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    inside
        .split(',')
        .map(|length| length.trim().parse().ok())
        .collect()
}
