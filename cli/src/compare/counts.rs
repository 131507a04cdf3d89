//! A count that runs may have in common.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number that all runs have, such as that of clients, or the numbers of different runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Counts {
    One(usize),
    Several(Vec<usize>),
}

impl Counts {
    /// The counts of runs, each once, in ascending order.
    pub fn of(counts: impl Iterator<Item = usize>) -> Self {
        let mut all: Vec<usize> = counts.collect();
        all.sort_unstable();
        all.dedup();
        match all[..] {
            [one] => Self::One(one),
            _ => Self::Several(all),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(one) => one.fmt(f),
            Self::Several(all) => {
                let all: Vec<String> = all.iter().map(usize::to_string).collect();
                f.write_str(&all.join(" or "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_differ_are_all_told() {
        let same = Counts::of([20, 20].into_iter());
        let several = Counts::of([300, 20, 300].into_iter());
        assert_eq!(
            (&*same.to_string(), &*several.to_string()),
            ("20", "20 or 300")
        );
        for counts in [same, several] {
            let text = serde_json::to_string(&counts).unwrap();
            assert_eq!(serde_json::from_str::<Counts>(&text).unwrap(), counts);
        }
    }
}
