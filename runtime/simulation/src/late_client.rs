//! A client that joins after some rounds.

use std::fmt;
use std::str::FromStr;

use fedround_exec::program::sample_size;

/// The last client, which joins late and then takes part in every round: the new device of LG-FedAvg
/// (Liang, Liu et al. 2020, section 3.2).
///
/// Before it joins, it takes no part in any round. Afterwards, every cohort that is drawn from clients that include it
/// consists of the late client and a share of the others. This share replaces the one that the algorithm draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateClient {
    /// The number of rounds before it joins.
    pub after: usize,
    /// The share of the other clients that train together with it, from 0 (nobody) to 1.
    pub others: f64,
}

/// A text does not describe a [`LateClient`].
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "expected ROUNDS:SHARE, the rounds before the last client joins and the share of the others that train beside it, \
     0 to 1, as in 400:0.1; found `{0}`"
)]
pub struct LateClientError(String);

impl LateClient {
    /// Checks a value that a program made, by the rules of its text.
    ///
    /// # Errors
    ///
    /// The share of the others is not from 0 to 1.
    pub fn check(self) -> Result<(), LateClientError> {
        self.to_string().parse::<Self>().map(drop)
    }

    /// The number of clients in a round, which counts from 1, of `clients` in all. The late client is the last.
    pub(crate) fn clients_in_round(self, round: usize, clients: usize) -> usize {
        clients - usize::from(round <= self.after)
    }

    /// How many of the `others` are drawn for a cohort with the late client.
    pub(crate) fn others_to_draw(self, others: usize) -> usize {
        match self.others > 0.0 {
            true => sample_size(self.others, others).min(others),
            false => 0,
        }
    }
}

impl FromStr for LateClient {
    type Err = LateClientError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once(':');
        let parts = parts.and_then(|(after, others)| {
            Some(Self {
                after: after.trim().parse().ok()?,
                others: others.trim().parse().ok()?,
            })
        });
        let valid = parts.filter(|late_client| (0.0..=1.0).contains(&late_client.others));
        valid.ok_or_else(|| LateClientError(text.to_owned()))
    }
}

impl fmt::Display for LateClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.after, self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["0:0", "400:0.1", "3:1"] {
            assert_eq!(text.parse::<LateClient>().unwrap().to_string(), text);
        }
        for text in [
            "", "4", "4:", ":0.1", "-1:0", "4:1.5", "4:-0.1", "4:NaN", "a:0",
        ] {
            let error = text.parse::<LateClient>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found `{text}`")), "{error}");
        }
    }

    #[test]
    fn it_joins_after_its_rounds_and_chooses_who_is_beside_it() {
        let late_client = |others| LateClient { after: 2, others };
        assert_eq!(
            [1, 2, 3].map(|round| late_client(0.0).clients_in_round(round, 5)),
            [4, 4, 5]
        );
        let beside = |share, others| late_client(share).others_to_draw(others);
        assert_eq!((beside(0.0, 100), beside(0.1, 100)), (0, 10));
        // Somebody, where a share of the others is asked for and there are any.
        assert_eq!((beside(0.1, 2), beside(0.1, 0), beside(1.0, 3)), (1, 0, 3));
    }
}
