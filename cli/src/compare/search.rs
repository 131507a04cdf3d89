//! Values of hyper-parameters that are tried.

use fedround_dsl::FieldKind;
use fedround_random::{Purpose, StreamKey};

use super::error::CompareError;

/// A hyper-parameter and the values that are tried.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Search {
    pub name: String,
    pub values: Values,
}

/// What is tried of one hyper-parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Each of these.
    Each(Vec<String>),
    /// Numbers between two positive ones, drawn so that each power of ten is as likely as another.
    Range(f64, f64),
    /// Whole numbers from the first to the second, drawn likewise.
    Whole(f64, f64),
}

impl Search {
    /// Reads `NAME=V1,V2,…` or `NAME=LOW..HIGH`.
    pub fn parse(text: &str) -> Result<Self, CompareError> {
        let wrong = || CompareError::Select {
            text: text.to_owned(),
        };
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        if name.trim().is_empty() {
            return Err(wrong());
        }
        let values = match values.split_once("..") {
            Some((low, high)) => {
                let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
                let (low, high) = (number(low)?, number(high)?);
                if !(low > 0.0 && low < high && high.is_finite()) {
                    return Err(wrong());
                }
                Values::Range(low, high)
            }
            None => {
                let values = values.split(',').map(|value| value.trim().to_owned());
                let values: Vec<String> = values.collect();
                if values.iter().any(String::is_empty) {
                    return Err(wrong());
                }
                let mut earlier = vec![];
                for value in &values {
                    // 1, 1.0 and 1e0 are one number.
                    let number = value.parse::<f64>().ok();
                    let same = |(text, other): &(&String, Option<f64>)| {
                        *text == value || (number.is_some() && *other == number)
                    };
                    if earlier.iter().any(same) {
                        let (name, value) = (name.trim().to_owned(), value.clone());
                        return Err(CompareError::ValueTwice { name, value });
                    }
                    earlier.push((value, number));
                }
                Values::Each(values)
            }
        };
        Ok(Self {
            name: name.trim().to_owned(),
            values,
        })
    }

    /// The same for a hyper-parameter of this kind: a range of counts has whole numbers alone.
    pub fn of_kind(&self, kind: FieldKind) -> Result<Self, CompareError> {
        let values = match (&self.values, kind) {
            (&Values::Range(low, high), FieldKind::Int) => {
                if low.ceil() > high.floor() {
                    let name = self.name.clone();
                    return Err(CompareError::NoWholeNumber { name, low, high });
                }
                Values::Whole(low.ceil(), high.floor())
            }
            (values, _) => values.clone(),
        };
        Ok(Self {
            name: self.name.clone(),
            values,
        })
    }
}

/// How combinations of values are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strategy {
    /// All of them.
    All,
    /// So many, drawn from a seed.
    Random { count: usize, seed: u64 },
}

impl Strategy {
    /// The combinations, each with a value for every search; an empty one if there are no searches.
    pub fn combinations(self, searches: &[Search]) -> Result<Vec<Vec<String>>, CompareError> {
        match self {
            _ if searches.is_empty() => Ok(vec![vec![]]),
            Self::All => all(searches),
            Self::Random { count, seed } => Ok(random(searches, count, seed)),
        }
    }
}

/// The product of all lists.
fn all(searches: &[Search]) -> Result<Vec<Vec<String>>, CompareError> {
    let mut combined = vec![vec![]];
    for search in searches {
        let Values::Each(values) = &search.values else {
            let name = search.name.clone();
            return Err(CompareError::RangeNotDrawn { name });
        };
        let with_each = |base: &Vec<String>| {
            let base = base.clone();
            values
                .iter()
                .map(move |value| [base.as_slice(), std::slice::from_ref(value)].concat())
        };
        combined = combined.iter().flat_map(with_each).collect();
    }
    Ok(combined)
}

/// Different combinations, fewer where there are no more.
fn random(searches: &[Search], count: usize, seed: u64) -> Vec<Vec<String>> {
    let mut stream = StreamKey::new(seed, Purpose::Sweep).stream();
    let mut found: Vec<Vec<String>> = vec![];
    // Lists may not have so many combinations; a hundred draws for each miss hardly any of them.
    for _ in 0..100 * count {
        if found.len() == count {
            break;
        }
        let mut draw = |search: &Search| match &search.values {
            Values::Each(values) => values[stream.below(values.len())].clone(),
            &Values::Range(low, high) => short(low * (high / low).powf(stream.unit()), (low, high)),
            // The number above the last one is the end of its share.
            Values::Whole(low, high) => {
                let drawn = low * ((high + 1.0) / low).powf(stream.unit());
                drawn.floor().clamp(*low, *high).to_string()
            }
        };
        let combination: Vec<String> = searches.iter().map(&mut draw).collect();
        if !found.contains(&combination) {
            found.push(combination);
        }
    }
    found
}

/// A number of three digits, as a person would write it; of more digits if three leave the range.
fn short(value: f64, (low, high): (f64, f64)) -> String {
    let value = value.clamp(low, high);
    let mut rounded = (2..17).filter_map(|digits| format!("{value:.digits$e}").parse().ok());
    let rounded = rounded.find(|rounded| (low..=high).contains(rounded));
    rounded.unwrap_or(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        let values = |text: &str| Search::parse(text).map(|search| search.values);
        assert_eq!(
            values("lr = 0.1, 1").unwrap(),
            Values::Each(vec!["0.1".into(), "1".into()])
        );
        assert_eq!(values("lr=1e-3..1").unwrap(), Values::Range(0.001, 1.0));
        for text in [
            "lr", "=1", "lr=", "lr=1,,2", "lr=0..1", "lr=2..1", "lr=a..b",
        ] {
            assert!(Search::parse(text).is_err(), "{text}");
        }
        let twice = Search::parse("lr=0.1,1,1e-1").unwrap_err().to_string();
        assert!(twice.contains("the value 1e-1 is there twice"), "{twice}");
    }

    #[test]
    fn counts_are_drawn_from_their_whole_numbers() {
        let range = Search::parse("epochs=1..10").unwrap();
        let counts = range.of_kind(FieldKind::Int).unwrap();
        assert_eq!(range.of_kind(FieldKind::Float).unwrap(), range);
        let mut found: Vec<usize> = random(&[counts], 10, 1)
            .iter()
            .map(|one| one[0].parse().unwrap())
            .collect();
        found.sort_unstable();
        assert_eq!(found, (1..=10).collect::<Vec<_>>());
        let none = Search::parse("epochs=1.2..1.8").unwrap();
        assert!(none.of_kind(FieldKind::Int).is_err());
    }

    #[test]
    fn drawn_combinations_differ_and_repeat_with_their_seed() {
        let searches = ["lr=0.001..1", "mu=0,1"].map(|text| Search::parse(text).unwrap());
        let draw = |count, seed| {
            let strategy = Strategy::Random { count, seed };
            strategy.combinations(&searches).unwrap()
        };
        let found = draw(20, 1);
        assert_eq!((found.len(), &found), (20, &draw(20, 1)));
        assert_ne!(found, draw(20, 2));
        // More of them go on with the same ones, so that a sweep can be extended.
        assert_eq!(found[..5], draw(5, 1));
        let rates = found.iter().map(|one| one[0].parse::<f64>().unwrap());
        assert!(rates.clone().all(|rate| (0.001..=1.0).contains(&rate)));
        assert!(rates.filter(|rate| *rate < 0.1).count() > 5, "{found:?}");
        // There are two, and no more.
        assert_eq!(random(&searches[1..], 10, 1).len(), 2);
        assert!(Strategy::All.combinations(&searches).is_err());
        assert_eq!(short(0.012_345, (0.001, 1.0)), "0.0123");
        // Three digits would leave the range.
        assert_eq!(short(0.9999, (0.001, 0.999_92)), "0.9999");
        assert_eq!(short(0.123_41, (0.1234, 1.0)), "0.1234");
        assert_eq!(short(0.999_999, (0.999_998, 1.0)), "1");
        assert_eq!(short(1.5, (0.001, 0.7)), "0.7");
    }
}
