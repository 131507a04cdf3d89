//! The text form of a [`Partition`].

use std::fmt;
use std::str::FromStr;

use super::{Partition, PartitionError};
use crate::error::nearest;

const NAMES: [&str; 3] = ["iid", "shards", "dirichlet"];
const IID: &str = "iid takes no argument";
pub(super) const SHARDS: &str = "expected shards:N with the number of shards per client, a whole number of at least 1, as in shards:2";
pub(super) const DIRICHLET: &str = "expected dirichlet:ALPHA with a finite number above 0, as in dirichlet:0.5, and optionally the least \
     number of examples per client, at least 1, as in dirichlet:0.5:1";

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let text = text.trim();
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name.trim(), Some(argument.trim())),
            None => (text, None),
        };
        let wrong = |expected| PartitionError::argument(text, expected);
        match name {
            "iid" if argument.is_none() => Ok(Self::Iid),
            "iid" => Err(wrong(IID)),
            "shards" => match argument.and_then(positive) {
                Some(per_client) => Ok(Self::Shards { per_client }),
                None => Err(wrong(SHARDS)),
            },
            "dirichlet" => argument.and_then(dirichlet).ok_or_else(|| wrong(DIRICHLET)),
            _ => Err(PartitionError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name, NAMES),
            }),
        }
    }
}

fn dirichlet(argument: &str) -> Option<Partition> {
    let (alpha, min) = match argument.split_once(':') {
        Some((alpha, min)) => (alpha.trim(), Some(positive(min.trim())?)),
        None => (argument, None),
    };
    let alpha = alpha
        .parse()
        .ok()
        .filter(|a: &f64| a.is_finite() && *a > 0.0)?;
    Some(Partition::Dirichlet { alpha, min })
}

fn positive(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&n| n > 0)
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iid => write!(f, "iid"),
            Self::Shards { per_client } => write!(f, "shards:{per_client}"),
            Self::Dirichlet { alpha, min: None } => write!(f, "dirichlet:{alpha}"),
            Self::Dirichlet {
                alpha,
                min: Some(min),
            } => write!(f, "dirichlet:{alpha}:{min}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Partition>().unwrap_err().to_string()
    }

    #[test]
    fn text_survives_a_round_trip() {
        for text in [
            "iid",
            "shards:2",
            "dirichlet:0.5",
            "dirichlet:0.001",
            "dirichlet:100:1",
        ] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        assert_eq!(
            " shards : 3 ".parse(),
            Ok(Partition::Shards { per_client: 3 })
        );
    }

    #[test]
    fn slips_are_explained() {
        assert_eq!(
            error("dirchlet:0.1"),
            "unknown partition `dirchlet` (did you mean `dirichlet`?); write iid, shards:N or dirichlet:ALPHA"
        );
        assert_eq!(
            error("quantity"),
            "unknown partition `quantity`; write iid, shards:N or dirichlet:ALPHA"
        );
        assert_eq!(
            error("iid:3"),
            "bad partition `iid:3`: iid takes no argument"
        );
        for text in [
            "shards",
            "shards:",
            "shards:0",
            "shards:-1",
            "shards:1.5",
            "shards:2:3",
        ] {
            assert_eq!(error(text), format!("bad partition `{text}`: {SHARDS}"));
        }
        for bad in ["", "0", "-1", "nan", "inf", "x", "0.5:", "0.5:0", "0.5:1:2"] {
            let text = format!("dirichlet:{bad}");
            assert_eq!(error(&text), format!("bad partition `{text}`: {DIRICHLET}"));
        }
    }
}
