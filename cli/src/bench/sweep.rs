//! A measurement over a number of clients or a cohort's size.

use std::str::FromStr;

/// What varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// Registered clients; the cohort stays as large.
    Clients,
    /// Clients of a round.
    Cohort,
}

impl Axis {
    pub fn name(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::Cohort => "cohort",
        }
    }
}

/// `clients=100,1000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    pub(super) axis: Axis,
    pub(super) values: Vec<usize>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = || format!("expected clients=N,N,… or cohort=N,N,…, found `{text}`");
        let (name, values) = text.split_once('=').ok_or_else(expected)?;
        let axis = [Axis::Clients, Axis::Cohort]
            .into_iter()
            .find(|axis| axis.name() == name);
        let values = values
            .split(',')
            .map(|n| n.trim().parse().ok().filter(|n| *n > 0));
        let values: Option<Vec<usize>> = values.collect();
        axis.zip(values)
            .map(|(axis, values)| Self { axis, values })
            .ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_name_and_numbers() {
        let sweep: Sweep = "clients=100, 1000".parse().unwrap();
        assert_eq!((sweep.axis, sweep.values), (Axis::Clients, vec![100, 1000]));
        for text in [
            "clients",
            "clients=",
            "rounds=3",
            "cohort=1,x",
            "cohort=0",
            "",
        ] {
            let error = text.parse::<Sweep>().unwrap_err();
            assert!(error.ends_with(&format!("found `{text}`")), "{error}");
        }
    }
}
