//! Units and number formats of measures.

use super::columns::{Measure, Of};

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    /// Percentage points more or fewer.
    Points,
    Rounds,
    /// Of no unit, or of one that its measure names.
    Number,
    /// Large.
    Count,
}

impl Unit {
    /// A number as it is printed, with its sign where it is a difference.
    pub fn write(self, x: f64, signed: bool) -> String {
        match self {
            Self::Points | Self::Number if signed => format!("{x:+.2}"),
            Self::Percent | Self::Points | Self::Number => format!("{x:.2}"),
            Self::Rounds => format!("{x:.0}"),
            Self::Count if x == 0.0 => "0".to_owned(),
            Self::Count => format!("{x:.2e}"),
        }
    }
}

/// How a measure is written, or a difference in it.
pub(super) fn unit(measure: &Measure, difference: bool) -> Unit {
    match measure.of {
        Of::Rounds | Of::RoundsToTarget | Of::RoundsToLowest => Unit::Rounds,
        Of::Sent | Of::Bytes | Of::MostBytes | Of::BytesToTarget | Of::BytesToLowest => Unit::Count,
        Of::Server(_) | Of::Epsilon | Of::UsualEpsilon => Unit::Number,
        _ if difference && !measure.alone => Unit::Points,
        _ => Unit::Percent,
    }
}
