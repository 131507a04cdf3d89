//! How the two federations differ that a guarantee makes hard to tell apart.

use std::fmt;

use fedround_metrics::accountant::Sampling;
use fedround_passes::fed::{Mechanism, Unit};
use serde::{Deserialize, Serialize};

/// How the two federations differ that an ε makes hard to tell apart by what they send. The ε of different kinds of
/// neighbours do not add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Neighbours {
    /// A row, such as an example or what is made of one, is another one.
    RowReplaced,
    /// A row gives its gradient, or a gradient of zero in its place.
    RowZeroed,
    /// All of a client's data are others.
    ClientReplaced,
    /// A client may take part, or not.
    ClientAbsent,
}

impl Neighbours {
    /// How neighbours differ for noise on sums over cohorts that are drawn so.
    pub(super) fn of_cohorts(sampling: Sampling) -> Self {
        match sampling {
            Sampling::Poisson => Self::ClientAbsent,
            Sampling::Fixed => Self::ClientReplaced,
        }
    }

    /// How neighbours differ for any other noise.
    pub(super) fn of(mechanism: &Mechanism) -> Self {
        match (mechanism.unit, mechanism.steps) {
            (Unit::Row, Some(_)) => Self::RowZeroed,
            (Unit::Row, None) => Self::RowReplaced,
            (Unit::Client, _) => Self::ClientReplaced,
        }
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RowReplaced => "one row replaced",
            Self::RowZeroed => "one row with a gradient of zero",
            Self::ClientReplaced => "one client replaced",
            Self::ClientAbsent => "one client there or not",
        })
    }
}
