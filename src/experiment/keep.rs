//! Decides which models of a run are kept.

use std::fmt;
use std::str::FromStr;

/// Which of a run's models the report has: the server's, with what clients have of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The one of the best evaluation on validation examples.
    Best,
    /// The one after the last complete round.
    #[default]
    Last,
    /// Both.
    Both,
}

impl Keep {
    /// Whether the best model is kept.
    pub fn best(self) -> bool {
        self != Self::Last
    }
}

/// A text names no [`Keep`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `best`, `last` or `both`, found `{found}`")]
pub struct KeepError {
    found: String,
}

impl FromStr for Keep {
    type Err = KeepError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "best" => Ok(Self::Best),
            "last" => Ok(Self::Last),
            "both" => Ok(Self::Both),
            found => Err(KeepError {
                found: found.to_owned(),
            }),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Best => "best",
            Self::Last => "last",
            Self::Both => "both",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for keep in [Keep::Best, Keep::Last, Keep::Both] {
            assert_eq!(keep.to_string().parse::<Keep>().unwrap(), keep);
        }
        let error = "all".parse::<Keep>().unwrap_err().to_string();
        assert_eq!(error, "expected `best`, `last` or `both`, found `all`");
    }
}
