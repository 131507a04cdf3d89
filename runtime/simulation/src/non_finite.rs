//! Handles updates that are not finite: whether their clients are left out, and whether the round goes on.

use std::fmt;
use std::str::FromStr;

/// What happens in a round in which clients' updates are not finite.
///
/// After every round, the parameters and all states that the round set are checked. A round whose results are finite
/// is never repeated, so its results do not depend on this choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnNan {
    /// The round is repeated without these clients, as if they had not been in its cohorts.
    #[default]
    Skip,
    /// The round ends with an error.
    Stop,
}

/// A text does not name an [`OnNan`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `skip` or `stop`, found `{found}`")]
pub struct OnNanError {
    found: String,
}

impl FromStr for OnNan {
    type Err = OnNanError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "skip" => Ok(Self::Skip),
            "stop" => Ok(Self::Stop),
            found => Err(OnNanError {
                found: found.to_owned(),
            }),
        }
    }
}

impl fmt::Display for OnNan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skip => "skip",
            Self::Stop => "stop",
        })
    }
}

/// Where values first became NaN or infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diverged {
    /// A training loss, a parameter or a state is not finite; the clients that caused it are not known.
    Round,
    /// The updates of these clients are not finite.
    Clients(Vec<usize>),
    /// No client has a finite update, of this many that were tried.
    EveryClient(usize),
    /// Every client's update is finite, but what the server computes from them is not.
    Server,
}

const CLIENTS: &str = "lower the learning rate first (at 0, an algorithm may divide by it); if that does not help, \
                       a gradient may be undefined where training starts: `sqrt`, `ln` or a division at 0, as in \
                       `‖w − wᵗ‖`";

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round => write!(f, "losses, parameters or states are not finite; {CLIENTS}"),
            Self::Clients(clients) => {
                let clients: Vec<String> = clients.iter().map(ToString::to_string).collect();
                let (s, are) = if clients.len() == 1 {
                    ("", "is")
                } else {
                    ("s", "are")
                };
                let clients = clients.join(", ");
                write!(
                    f,
                    "the update{s} of client{s} {clients} {are} not finite; {CLIENTS}"
                )
            }
            Self::EveryClient(clients) => {
                write!(
                    f,
                    "no client has a finite update, {clients} were tried; {CLIENTS}"
                )
            }
            Self::Server => write!(
                f,
                "the clients' updates are finite, and what the server makes of them is not; \
                 look at the server's learning rate first, then at what it divides by"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in [OnNan::Skip, OnNan::Stop] {
            assert_eq!(choice.to_string().parse::<OnNan>().unwrap(), choice);
        }
        let error = "keep".parse::<OnNan>().unwrap_err().to_string();
        assert_eq!(error, "expected `skip` or `stop`, found `keep`");
    }

    #[test]
    fn clients_are_named() {
        let text = |clients: &[usize]| Diverged::Clients(clients.to_vec()).to_string();
        assert!(text(&[3]).starts_with("the update of client 3 is not finite; "));
        assert!(text(&[3, 5]).starts_with("the updates of clients 3, 5 are not finite; "));
    }
}
