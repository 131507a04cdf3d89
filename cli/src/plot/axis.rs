//! The axes of a chart: what they hold, and how their values are written.

use crate::terminal::bytes;

/// What an axis shows.
#[derive(Clone, Copy)]
pub(crate) enum Axis<'a> {
    /// Rounds, from zero.
    Rounds,
    /// A quantity of this name.
    Number(&'a str),
    /// The same of a fraction, in percent.
    Share(&'a str),
    /// The same of bytes, from zero.
    Bytes(&'a str),
    /// A coordinate without a unit or a name.
    Coordinate,
}

impl<'a> Axis<'a> {
    pub(super) fn title(self) -> Option<&'a str> {
        match self {
            Self::Rounds => Some("round"),
            Self::Number(title) | Self::Share(title) | Self::Bytes(title) => Some(title),
            Self::Coordinate => None,
        }
    }

    /// How many values are written at most; no part of a round.
    pub(super) fn labels(self, high: f64) -> usize {
        match self {
            Self::Rounds => (high.floor() as usize + 1).clamp(2, 5),
            Self::Number(_) | Self::Share(_) | Self::Bytes(_) | Self::Coordinate => 5,
        }
    }

    /// The room left of the chart for an axis upwards: its labels, and its name beside them.
    pub(super) fn label_area(self) -> u32 {
        match self {
            // As long as `100.0 MB`.
            Self::Bytes(_) => 88,
            Self::Rounds | Self::Number(_) | Self::Share(_) | Self::Coordinate => 66,
        }
    }

    /// What it holds: all of the values with a margin.
    pub(super) fn range(self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        let all: Vec<f64> = values.collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = 0.05 * (high - low);
        let (low, high) = match margin > 0.0 {
            true => (low - margin, high + margin),
            false if low.is_finite() => (low - 0.5, low + 0.5),
            false => (0.0, 1.0),
        };
        match self {
            Self::Rounds | Self::Bytes(_) => (0.0, high),
            Self::Share(_) => (low.max(0.0), high.min(1.0)),
            Self::Number(_) | Self::Coordinate => (low, high),
        }
    }

    /// How its values are written.
    pub(super) fn label(self, (low, high): (f64, f64)) -> impl Fn(&f64) -> String {
        let decimals = usize::from(high - low < 0.1);
        move |value: &f64| match self {
            Self::Share(_) => format!("{:.decimals$} %", 100.0 * value),
            Self::Bytes(_) => bytes(value.max(0.0) as u64),
            Self::Rounds | Self::Number(_) | Self::Coordinate => number(*value),
        }
    }
}

/// A label of an axis, of few letters.
fn number(x: f64) -> String {
    match x.abs() {
        size if size != 0.0 && !(1e-3..1e5).contains(&size) => format!("{x:.1e}"),
        size if size >= 10.0 => format!("{x:.0}"),
        _ => format!("{}", (1e4 * x).round() / 1e4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.25, 12.0, 123_456.0, 0.000_12].map(number);
        assert_eq!(labels, ["0", "0.25", "12", "1.2e5", "1.2e-4"]);
        assert_eq!(Axis::Share("").label((0.0, 1.0))(&0.25), "25 %");
        assert_eq!(Axis::Share("").label((0.91, 0.92))(&0.915), "91.5 %");
    }
}
