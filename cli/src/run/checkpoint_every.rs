//! The choice of when checkpoints are written, as text.

use std::fmt;
use std::str::FromStr;

/// When checkpoints are written. The last round always ends with one, and so does a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum CheckpointEvery {
    /// As often as costs less than 2 % of the time.
    #[default]
    Auto,
    Rounds(usize),
    Minutes(f64),
    /// Never, also not at the end.
    Off,
}

/// A text says nothing about when.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected `auto`, `off`, rounds:N with N from 1 on, or minutes:M with M above 0, found `{0}`"
)]
pub(crate) struct CheckpointEveryError(String);

impl FromStr for CheckpointEvery {
    type Err = CheckpointEveryError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = match (text, text.split_once(':')) {
            ("auto", _) => Some(Self::Auto),
            ("off", _) => Some(Self::Off),
            (_, Some(("rounds", n))) => n.parse().ok().filter(|n| *n > 0).map(Self::Rounds),
            (_, Some(("minutes", m))) => {
                let minutes = m.parse().ok().filter(|m: &f64| *m > 0.0 && m.is_finite());
                minutes.map(Self::Minutes)
            }
            _ => None,
        };
        parsed.ok_or_else(|| CheckpointEveryError(text.to_owned()))
    }
}

impl fmt::Display for CheckpointEvery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Rounds(n) => write!(f, "rounds:{n}"),
            Self::Minutes(m) => write!(f, "minutes:{m}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_round_trip() {
        for text in ["auto", "off", "rounds:3", "minutes:0.5"] {
            assert_eq!(text.parse::<CheckpointEvery>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "rounds",
            "rounds:0",
            "minutes:0",
            "minutes:inf",
            "hours:1",
        ] {
            let error = text.parse::<CheckpointEvery>().unwrap_err().to_string();
            assert!(
                error.contains("expected `auto`, `off`, rounds:N"),
                "{error}"
            );
        }
    }
}
