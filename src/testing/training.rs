//! Short training runs on a little data, and their comparison.

use fedround_data::{Partition, synth::SynthDigits};
use fedround_dsl::Algorithm;

use crate::Experiment;
use crate::experiment::{ExperimentError, Parameters, Report};

/// A small experiment: softmax regression on 400 drawn digits, which 20 clients have. Clients differ in
/// their labels and in how many examples they have. Noise of differential privacy is drawn from the seed, so
/// that the same experiment always gives the same bits.
///
/// Its setters choose something else, such as `experiment(algorithm).model("cnn").clients(5)`.
pub fn experiment(algorithm: impl Algorithm) -> Experiment {
    let data = SynthDigits {
        train: 400,
        test: 50,
        ..SynthDigits::default()
    };
    let skewed = Partition::Dirichlet {
        alpha: 0.5,
        min: Some(3),
    };
    Experiment::new(algorithm)
        .model("logistic")
        .data(data.generate())
        .clients(20)
        .partition(skewed)
        .seed(1)
        .reproducible_noise()
}

/// What training gives. [`train`] makes it, and `Trained::from(report)` of any experiment's report.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The training loss of each round.
    pub losses: Vec<f64>,
    /// All parameters of the server's model after the last round in one row, in the model's order.
    pub weights: Vec<f32>,
    /// Everything else that a run reports: accuracies, bytes, numbers that the server keeps.
    pub report: Report,
}

impl From<Report> for Trained {
    fn from(report: Report) -> Self {
        let all = report.parameters.iter();
        Self {
            losses: report
                .history
                .iter()
                .map(|round| round.train_loss)
                .collect(),
            weights: all.flat_map(|(_, _, values)| values.clone()).collect(),
            report,
        }
    }
}

/// Trains rounds of the small [`experiment`]. After 0 rounds the weights are those that training begins with.
///
/// # Errors
///
/// See [`ExperimentError`].
pub fn train(algorithm: impl Algorithm, rounds: usize) -> Result<Trained, ExperimentError> {
    let experiment = experiment(algorithm);
    if rounds > 0 {
        return Ok(experiment.run(rounds)?.into());
    }
    let run = experiment.prepare(1)?;
    Ok(Trained::from(Report {
        parameters: run.simulation().parameters()?,
        ..Report::default()
    }))
}

/// Why two algorithms do not train alike.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unlike {
    /// One of them cannot be trained.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Their models have other parameters.
    #[error("expected the parameters {expected:?}, found {found:?}")]
    Parameters {
        /// The parameters of the second algorithm.
        expected: Vec<String>,
        /// The parameters of the first.
        found: Vec<String>,
    },
    /// Their parameters differ.
    #[error(
        "after {rounds} rounds, {differing} of {all} parameters differ by more than {tolerance:e}; the most in `{name}`, entry {entry}: expected {expected}, found {found}"
    )]
    Values {
        /// How long they were trained.
        rounds: usize,
        /// How many parameters differ.
        differing: usize,
        /// How many there are.
        all: usize,
        /// How much they may differ.
        tolerance: f32,
        /// The tensor with the largest difference.
        name: String,
        /// Where in it that is, row by row.
        entry: usize,
        /// What the second algorithm has there.
        expected: f32,
        /// What the first one has there.
        found: f32,
    },
}

/// Whether two algorithms have the same parameters after some rounds of the small [`experiment`]: the same
/// bits if the tolerance is 0, and otherwise numbers that differ by no more than that. It is what
/// [`assert_trains_alike!`](super::assert_trains_alike) asserts.
///
/// # Errors
///
/// [`Unlike`], if they differ or one of them cannot be trained.
pub fn compare(
    first: impl Algorithm,
    second: impl Algorithm,
    rounds: usize,
    tolerance: f32,
) -> Result<(), Unlike> {
    let (found, expected) = (train(first, rounds)?, train(second, rounds)?);
    let (found, expected) = (found.report.parameters, expected.report.parameters);
    alike(&found, &expected, rounds, tolerance)
}

fn alike(
    found: &Parameters,
    expected: &Parameters,
    rounds: usize,
    tolerance: f32,
) -> Result<(), Unlike> {
    let shapes = |all: &Parameters| -> Vec<String> {
        let named = all.iter().map(|(name, ty, _)| format!("{name}: {ty}"));
        named.collect()
    };
    if shapes(found) != shapes(expected) {
        return Err(Unlike::Parameters {
            expected: shapes(expected),
            found: shapes(found),
        });
    }
    let tensors = found.iter().zip(expected);
    let all = tensors.flat_map(|((name, _, found), (_, _, expected))| {
        let each = found.iter().zip(expected).enumerate();
        each.map(move |(entry, (found, expected))| (name, entry, *found, *expected))
    });
    let all: Vec<(&String, usize, f32, f32)> = all.collect();
    let differing = all.iter().filter(|(_, _, a, b)| gap(*a, *b) > tolerance);
    let differing: Vec<_> = differing.collect();
    let most = differing
        .iter()
        .max_by(|(_, _, a, b), (_, _, c, d)| gap(*a, *b).total_cmp(&gap(*c, *d)));
    match most {
        None => Ok(()),
        Some((name, entry, found, expected)) => Err(Unlike::Values {
            rounds,
            differing: differing.len(),
            all: all.len(),
            tolerance,
            name: (*name).clone(),
            entry: *entry,
            expected: *expected,
            found: *found,
        }),
    }
}

/// How far apart two numbers are: 0 for the same bits alone, and infinitely far if one is not a number.
fn gap(a: f32, b: f32) -> f32 {
    match (a - b).abs() {
        _ if a.to_bits() == b.to_bits() => 0.0,
        gap if gap.is_nan() => f32::INFINITY,
        gap => gap.max(f32::MIN_POSITIVE),
    }
}

/// Asserts that two algorithms train alike: that the small [`experiment`] of both gives the same parameters
/// after three rounds, bit for bit. `assert_trains_alike!(a, b, rounds = 10, tolerance = 1e-6)` trains longer
/// and lets each parameter differ by so much.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_trains_alike {
    ($first:expr, $second:expr $(,)?) => {
        $crate::testing::assert_trains_alike!($first, $second, rounds = 3, tolerance = 0.0)
    };
    ($first:expr, $second:expr, rounds = $rounds:expr $(,)?) => {
        $crate::testing::assert_trains_alike!($first, $second, rounds = $rounds, tolerance = 0.0)
    };
    ($first:expr, $second:expr, tolerance = $tolerance:expr $(,)?) => {
        $crate::testing::assert_trains_alike!($first, $second, rounds = 3, tolerance = $tolerance)
    };
    ($first:expr, $second:expr, rounds = $rounds:expr, tolerance = $tolerance:expr $(,)?) => {
        if let ::std::result::Result::Err(error) =
            $crate::testing::compare($first, $second, $rounds, $tolerance)
        {
            ::std::panic!("{error}");
        }
    };
}

#[cfg(test)]
mod tests {
    use super::gap;

    #[test]
    fn what_is_not_a_number_is_near_nothing_else() {
        assert_eq!(gap(f32::NAN, 1.0), f32::INFINITY);
        assert_eq!(gap(f32::NAN, f32::NAN), 0.0);
        assert!(gap(0.0, -0.0) > 0.0);
        assert_eq!(gap(1.0, 1.5), 0.5);
    }
}
