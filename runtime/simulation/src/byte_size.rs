//! Amounts of memory in words: `512MB`, `2GiB`.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub usize);

/// A text does not name a [`ByteSize`].
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "expected a number of bytes, or of kB, MB, GB (powers of 1000), KiB, MiB or GiB (powers of 1024), as in 512MB; \
     found `{0}`"
)]
pub struct ByteSizeError(String);

/// From large to small.
const UNITS: [(&str, usize); 6] = [
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
];

impl FromStr for ByteSize {
    type Err = ByteSizeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let lower = trimmed.to_ascii_lowercase();
        let unit = UNITS.iter().find_map(|(name, unit)| {
            let number = lower.strip_suffix(&name.to_ascii_lowercase())?;
            Some((number.trim_end(), *unit))
        });
        let (number, unit) = unit.unwrap_or((&lower, 1));
        let bytes = number.parse().ok();
        let bytes = bytes.and_then(|n: usize| n.checked_mul(unit));
        bytes
            .map(Self)
            .ok_or_else(|| ByteSizeError(text.to_owned()))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        let whole = |(_, unit): &&(&str, usize)| bytes >= *unit && bytes.is_multiple_of(*unit);
        match UNITS.iter().find(whole) {
            Some((name, unit)) => write!(f, "{}{name}", bytes / unit),
            None => write!(f, "{bytes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for (text, bytes) in [
            ("0", 0),
            ("1", 1),
            ("512MB", 512_000_000),
            ("2GiB", 2 << 30),
            ("3KiB", 3072),
            ("1001", 1001),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!((size.0, size.to_string()), (bytes, text.to_owned()));
        }
        assert_eq!(" 2 gib ".parse::<ByteSize>().unwrap(), ByteSize(2 << 30));
        for text in ["", "MB", "1.5GB", "-1", "1TB", "99999999999GiB"] {
            let error = text.parse::<ByteSize>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found `{text}`")), "{error}");
        }
    }
}
