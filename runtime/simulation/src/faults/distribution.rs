//! Distributions of clients' speeds and bandwidths.

use std::fmt;
use std::str::FromStr;

use fedround_random::StreamKey;

/// A distribution of positive numbers, of which each client has one.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// The same for every client.
    Constant(f64),
    /// Uniform between two bounds.
    Uniform(f64, f64),
    /// Log-normal: the median, and the standard deviation of the logarithm.
    Lognormal(f64, f64),
    /// Exponential with a mean.
    Exponential(f64),
    /// A list with a number for each client.
    Listed(Vec<f64>),
}

/// A text does not describe a [`Distribution`], or a value is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `constant:X`, `uniform:LOW:HIGH`, `lognormal:MEDIAN:SIGMA` or `exponential:MEAN`, \
     of numbers above 0, found `{0}`"
)]
pub struct DistributionError(String);

impl Distribution {
    /// Checks a value that a program made. A list is checked where the number of clients is known.
    pub(super) fn check(&self) -> Result<(), DistributionError> {
        match self {
            Self::Listed(_) => Ok(()),
            // The parser has the rules.
            _ => self.to_string().parse::<Self>().map(drop),
        }
    }

    /// A client's number, drawn with its key.
    pub(crate) fn of(&self, client: usize, key: StreamKey) -> f64 {
        let mut stream = key.stream();
        match self {
            Self::Constant(x) => *x,
            Self::Uniform(low, high) => stream.range(*low, *high),
            // The power may be rounded to 0 or infinity.
            Self::Lognormal(median, sigma) => {
                let x = median * (sigma * stream.normal()).exp();
                x.clamp(f64::MIN_POSITIVE, f64::MAX)
            }
            // 1 − u is above 0, so that the logarithm is finite. The result is at least the smallest positive number.
            Self::Exponential(mean) => (-mean * (1.0 - stream.unit()).ln()).max(f64::MIN_POSITIVE),
            Self::Listed(values) => values.get(client).copied().unwrap_or(f64::NAN),
        }
    }
}

impl FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default().trim();
        let numbers: Result<Vec<f64>, _> = parts.map(|x| x.trim().parse()).collect();
        let numbers = numbers.unwrap_or_default();
        let positive = numbers.iter().all(|x| *x > 0.0 && x.is_finite());
        match (name, &numbers[..]) {
            ("constant", [x]) if positive => Ok(Self::Constant(*x)),
            ("uniform", [low, high]) if positive && low <= high => Ok(Self::Uniform(*low, *high)),
            ("lognormal", [median, sigma]) if positive => Ok(Self::Lognormal(*median, *sigma)),
            ("exponential", [mean]) if positive => Ok(Self::Exponential(*mean)),
            _ => Err(DistributionError(text.to_owned())),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(x) => write!(f, "constant:{x}"),
            Self::Uniform(low, high) => write!(f, "uniform:{low}:{high}"),
            Self::Lognormal(median, sigma) => write!(f, "lognormal:{median}:{sigma}"),
            Self::Exponential(mean) => write!(f, "exponential:{mean}"),
            Self::Listed(values) => write!(f, "a list of {}", values.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use fedround_random::Purpose;

    use super::*;

    #[test]
    fn lognormal_numbers_are_positive_and_finite() {
        let wide = Distribution::Lognormal(1.0, 1000.0);
        let numbers = (0..20).map(|k| wide.of(k, StreamKey::new(7, Purpose::Init).with(k)));
        let extreme = numbers.inspect(|x| assert!(*x > 0.0 && x.is_finite(), "{x}"));
        assert!(extreme.filter(|x| *x == f64::MIN_POSITIVE).count() > 0);
    }

    #[test]
    fn texts_round_trip() {
        for text in [
            "constant:2",
            "uniform:1:3",
            "lognormal:10:0.5",
            "exponential:4",
        ] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "constant",
            "constant:0",
            "constant:-1",
            "uniform:3:1",
            "uniform:1",
            "normal:1:1",
            "constant:x",
            "exponential:inf",
        ] {
            let error = text.parse::<Distribution>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found `{text}`")), "{error}");
        }
    }

    #[test]
    fn numbers_are_distributed_as_named() {
        let mean = |text: &str| {
            let of: Distribution = text.parse().unwrap();
            let key = StreamKey::new(5, Purpose::Faults);
            let n = 20_000;
            let all = (0..n).map(|k| of.of(k, key.with(k)));
            let all: Vec<f64> = all.collect();
            assert!(all.iter().all(|x| *x > 0.0 && x.is_finite()));
            (
                all.iter().sum::<f64>() / n as f64,
                all.iter().map(|x| x.ln()).sum::<f64>() / n as f64,
            )
        };
        assert!((mean("uniform:1:3").0 - 2.0).abs() < 0.02);
        assert!((mean("exponential:4").0 - 4.0).abs() < 0.1);
        assert!((mean("lognormal:10:0.5").1 - 10f64.ln()).abs() < 0.02);
        assert_eq!(mean("constant:2").0, 2.0);
        assert_eq!(
            Distribution::Listed(vec![3.0, 5.0]).of(1, StreamKey::root(0)),
            5.0
        );
    }
}
