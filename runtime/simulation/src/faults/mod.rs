//! Simulates clients that fail or are late (stragglers), on a virtual clock.
//!
//! Failures and speeds are drawn from counter-based streams of the seed, the round and the client. A round's failures
//! therefore depend neither on threads nor on earlier rounds, and a run that continues from a checkpoint needs only the
//! number of the round.

mod attendance;
mod distribution;
mod fate;

pub(crate) use attendance::Attendance;
pub use distribution::{Distribution, DistributionError};
pub(crate) use fate::{Fate, Fates, Workload};

/// Decides which of the called clients take part in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Probability that a client fails in a round, in `[0, 1)`.
    pub dropout: f64,
    /// Speed of each client, in 10⁹ floating-point operations a second; without it computing takes no
    /// time.
    pub speed: Option<Distribution>,
    /// Bandwidth of each client, in 10⁶ bits a second, the same up and down; without it sending takes no
    /// time.
    pub bandwidth: Option<Distribution>,
    /// Seconds after which the server stops waiting; clients that take longer are late. `None` without a deadline.
    pub deadline: Option<f64>,
    /// The factor by which more clients are sampled than the algorithm asks for, at least 1. Of those that arrive, the
    /// fastest ones take part, as many as the algorithm asks for.
    pub over_select: f64,
    /// The smallest number of clients of a cohort with which a round is carried out if others fail or are late; with
    /// fewer, it is skipped. A smaller cohort needs all of its clients.
    pub min_clients: usize,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            dropout: 0.0,
            speed: None,
            bandwidth: None,
            deadline: None,
            over_select: 1.0,
            min_clients: 1,
        }
    }
}

/// Invalid settings of [`Faults`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultsError {
    /// A number that is out of its range.
    #[error("{name}: expected {expected}, found {found}")]
    Range {
        /// The setting.
        name: &'static str,
        /// Its range.
        expected: &'static str,
        /// Its value.
        found: f64,
    },
    /// There is a deadline, but nothing takes time.
    #[error("a deadline needs a clock: speeds or bandwidths of clients")]
    NoClock,
    /// Speeds or bandwidths that are not drawn from numbers above 0.
    #[error("{name}: {source}")]
    Distribution {
        /// The setting.
        name: &'static str,
        /// What was expected and found.
        source: DistributionError,
    },
    /// A list of speeds or bandwidths that is too short.
    #[error("{name}: expected a value for each of {clients} clients, found {found}")]
    TooShort {
        /// The setting.
        name: &'static str,
        /// The number of clients.
        clients: usize,
        /// The length of the list.
        found: usize,
    },
}

impl Faults {
    /// Whether clients never fail, and take no time.
    pub fn is_none(&self) -> bool {
        self.dropout == 0.0 && !self.has_clock() && self.over_select == 1.0
    }

    /// Whether clients take time.
    pub fn has_clock(&self) -> bool {
        self.speed.is_some() || self.bandwidth.is_some()
    }

    /// Checks the settings, for `clients` clients.
    ///
    /// # Errors
    ///
    /// See [`FaultsError`].
    pub fn check(&self, clients: usize) -> Result<(), FaultsError> {
        let range = |name, expected, found| {
            Err(FaultsError::Range {
                name,
                expected,
                found,
            })
        };
        if !(0.0..1.0).contains(&self.dropout) {
            return range("dropout", "a probability from 0 to below 1", self.dropout);
        }
        if !(self.over_select >= 1.0 && self.over_select.is_finite()) {
            return range("over-selection", "a factor of at least 1", self.over_select);
        }
        match self.deadline {
            // An infinite deadline is allowed: no client is late.
            Some(found) if found.is_nan() || found <= 0.0 => {
                return range("deadline", "seconds above 0", found);
            }
            Some(_) if !self.has_clock() => return Err(FaultsError::NoClock),
            _ => {}
        }
        for (name, amounts) in [("speed", &self.speed), ("bandwidth", &self.bandwidth)] {
            let checked = amounts.as_ref().map_or(Ok(()), Distribution::check);
            checked.map_err(|source| FaultsError::Distribution { name, source })?;
            if let Some(Distribution::Listed(values)) = amounts {
                let found = values.len();
                if found < clients {
                    return Err(FaultsError::TooShort {
                        name,
                        clients,
                        found,
                    });
                }
                if let Some(&found) = values.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
                    return range(name, "values above 0", found);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let none = Faults::default();
        assert!(none.is_none() && none.check(3).is_ok());
        let check = |change: &dyn Fn(&mut Faults)| {
            let mut faults = Faults::default();
            change(&mut faults);
            faults.check(3)
        };
        for p in [-0.1, 1.0, f64::NAN] {
            assert!(check(&|f| f.dropout = p).is_err());
        }
        for factor in [0.9, f64::INFINITY, f64::NAN] {
            assert!(check(&|f| f.over_select = factor).is_err());
        }
        assert_eq!(
            check(&|f| f.deadline = Some(1.0)),
            Err(FaultsError::NoClock)
        );
        let listed = |n: usize| Some(Distribution::Listed(vec![1.0; n]));
        assert!(check(&|f| f.speed = listed(3)).is_ok());
        assert!(check(&|f| f.speed = listed(2)).is_err());
        assert!(check(&|f| f.bandwidth = Some(Distribution::Listed(vec![0.0; 3]))).is_err());
    }

    #[test]
    fn distributions_of_a_program_have_the_rules_of_their_texts() {
        let check = |speed: Distribution| {
            let speed = Some(speed);
            let faults = Faults {
                speed,
                ..Faults::default()
            };
            faults.check(3)
        };
        for wrong in [
            Distribution::Constant(-1.0),
            Distribution::Constant(f64::NAN),
            Distribution::Constant(0.0),
            Distribution::Uniform(3.0, -1.0),
            Distribution::Uniform(3.0, 1.0),
            Distribution::Lognormal(1.0, f64::NAN),
            Distribution::Exponential(-4.0),
        ] {
            let error = check(wrong.clone()).unwrap_err().to_string();
            let found = format!("found `{wrong}`");
            assert!(
                error.starts_with("speed: expected") && error.ends_with(&found),
                "{error}"
            );
        }
        for good in [
            Distribution::Constant(0.1),
            Distribution::Uniform(1.0, 1.0),
            Distribution::Lognormal(1e300, 1e-300),
            Distribution::Exponential(4.0),
        ] {
            assert_eq!(check(good), Ok(()));
        }
    }
}
