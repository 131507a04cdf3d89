//! The ε of one place of noise that is added several times.

use fedround_exec::Program;
use fedround_exec::program::sample_size;
use fedround_metrics::MetricError;
use fedround_metrics::accountant::{Sampling, Steps};
use fedround_metrics::privacy::{gaussian_epsilon, laplace_epsilon};
use fedround_passes::fed::{Draw, Mechanism, NoiseKind, RowSteps, mechanisms};

/// The `δ` of all statements, unless another one is chosen.
pub const DELTA: f64 = 1e-5;

/// Why no ε is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoBound {
    /// The noise is on a value that is not clipped there.
    #[error(
        "the noised value is not clipped directly before. Under a claim, noise also counts on a sum over a batch clipped row by row, or on a sum over a cohort (or the mean of a cohort of fixed size) of values that each client clips"
    )]
    Unclipped,
    /// The noise is in a loop of unknown length.
    #[error("the noise is in a loop whose length is not known before the round")]
    Loop,
    /// Laplace noise is on a value whose L2 norm is bounded.
    #[error("the bound is on the L2 norm, and Laplace noise hides the L1 norm")]
    Laplace,
    /// Passes over clients go on from one phase to the next.
    #[error("the algorithm has several phases, and passes over clients go on from one to the next")]
    Phases,
    /// The mean of a cohort may be of fewer clients.
    #[error(
        "some clients of a cohort of a fixed size did not answer, or may not have: a mean over fewer has a larger ε"
    )]
    Fewer,
    /// Fast clients are likelier in a cohort.
    #[error(
        "over-selection of clients calls more than a cohort has and the fastest take part, so who takes part is not drawn at random"
    )]
    OverSelect,
    /// The late client is in every cohort, beside another share of the others.
    #[error(
        "a late client takes part in every round after it joins, with another share of the other clients than the algorithm draws"
    )]
    Late,
    /// The noise or its bound is not above 0.
    #[error("the noise or its bound is not above 0")]
    NoNoise,
}

impl From<MetricError> for NoBound {
    fn from(_: MetricError) -> Self {
        Self::NoNoise
    }
}

/// The ε of noise that is added `times` times to values of a row or a client, of which a neighbour has
/// others each time. What is told the second time may depend on what was told the first time. Gaussian noise
/// composes without loss: `n` times are once with `√n` times the sensitivity. The ε of Laplace noise adds
/// up. Nothing is taken off because a row is in a part of the batches alone.
pub(super) fn replaced(mechanism: &Mechanism, times: f64, delta: f64) -> Result<f64, NoBound> {
    let (bound, scale) = (mechanism.bound, mechanism.scale);
    Ok(match mechanism.noise {
        NoiseKind::Laplace if !mechanism.l1 => return Err(NoBound::Laplace),
        NoiseKind::Laplace => laplace_epsilon(2.0, scale)? * times,
        NoiseKind::Gaussian => gaussian_epsilon(2.0 * bound * times.sqrt(), scale, delta)?,
    })
}

/// The ε of training with noise over some rounds, proven of shuffled batches. Each pass changes by one bound in
/// one of its steps: `√passes` bounds in all.
pub(super) fn of_passes(
    mechanism: &Mechanism,
    steps: RowSteps,
    rounds: u64,
    delta: f64,
) -> Result<f64, MetricError> {
    let passes = (rounds * steps.passes as u64) as f64;
    gaussian_epsilon(passes.sqrt(), mechanism.scale / mechanism.bound, delta)
}

/// The steps of a round of training with noise on so many rows, as if each step drew each row with a probability
/// of its own: the usual figure is of these, and is no bound of shuffled batches. `None` without rows.
pub(super) fn usual_steps(mechanism: &Mechanism, steps: RowSteps, rows: u64) -> Option<Steps> {
    (rows > 0).then(|| Steps {
        sampling: Sampling::Poisson,
        rate: (steps.batch as f64 / rows as f64).min(1.0),
        // Its standard deviation in bounds on one row.
        noise: mechanism.scale / mechanism.bound,
        count: steps.passes as u64 * rows.div_ceil(steps.batch.max(1) as u64),
    })
}

/// The rounds of noise on sums over one cohort as steps of sampled Gaussian noise, of a federation with so
/// many clients; `None` of other noise. The sums are one vector, in which each has the unit of what one
/// client moves it by: `σ = (Σ 1/σᵢ²)^(-1/2)`, as in Andrew et al. 2021, Theorem 1.
pub(super) fn rounds_of(joint: &[&Mechanism], clients: usize, rounds: u64) -> Option<Steps> {
    let (mut steps, mut precision) = (None, 0.0);
    for mechanism in joint {
        let sum = mechanism.cohort?;
        let (sampling, rate, moved) = match sum.draw {
            Draw::Bernoulli(rate) => (Sampling::Poisson, rate, 1.0),
            Draw::Fraction(fraction) => {
                let size = sample_size(fraction, clients) as f64;
                let divisor = if sum.mean { size } else { 1.0 };
                // One client replaced moves the sum by two bounds.
                (Sampling::Fixed, size / clients.max(1) as f64, 2.0 / divisor)
            }
            Draw::Passes(_) => return None,
        };
        precision += (mechanism.scale / (mechanism.bound * moved)).powi(-2);
        steps = Some((sampling, rate));
    }
    let (sampling, rate) = steps?;
    Some(Steps {
        sampling,
        rate,
        noise: precision.powf(-0.5),
        count: rounds,
    })
}

/// A bound with three decimals, which must not be below the exact one.
pub(super) fn round_up(epsilon: f64) -> f64 {
    (epsilon * 1e3).ceil() / 1e3
}

/// After how many rounds the ε of training with noise is given.
const ROUNDS: [u64; 3] = [1, 10, 100];

/// An ε as text, rounded up.
pub(super) fn number<E>(epsilon: Result<f64, E>) -> String {
    epsilon.map_or_else(|_| "∞".to_owned(), |e| format!("{:.3}", round_up(e)))
}

/// A `δ` as text, as in `1e-5`. Its third digit is rounded up: a smaller `δ` would not be proven.
pub fn delta_text(delta: f64) -> String {
    if delta == 0.0 {
        return "0".to_owned();
    }
    // Sums have digits that are noise of rounding.
    let least = delta * (1.0 - 1e-12);
    let unit = 10.0_f64.powi(least.log10().floor() as i32 - 2);
    let text = format!("{:.2e}", (least / unit).ceil() * unit);
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{exponent}")
        }
        None => text,
    }
}

/// A line for each `δ`, with the ε after some rounds.
pub(super) fn after_rounds<E>(deltas: &[f64], of: impl Fn(u64, f64) -> Result<f64, E>) -> String {
    let line = |delta: &f64| {
        let [one, ten, hundred] = ROUNDS.map(|rounds| number(of(rounds, *delta)));
        let delta = delta_text(*delta);
        format!(
            "      after 1 round ε = {one}, after 10 ε = {ten}, after 100 ε = {hundred}; δ = {delta}\n"
        )
    };
    deltas.iter().map(line).collect()
}

/// A `δ` below 1/N of a federation's N training examples, where `delta` is not and the ε of the program depends
/// on it: a `δ` of 1/N allows that one of the examples is revealed completely.
pub fn smaller_delta(program: &Program, delta: f64, examples: usize) -> Option<f64> {
    let gaussian = |program: &Program| {
        let mut known = mechanisms(program.linked()).known.into_iter();
        known.any(|mechanism| mechanism.noise == NoiseKind::Gaussian)
    };
    let large = delta * examples as f64 >= 1.0;
    let asked = large && program.phases().iter().any(|(_, phase)| gaussian(phase));
    asked.then(|| {
        let digits = (examples as f64).log10().floor() as i32 + 1;
        10.0_f64.powi(-digits)
    })
}

#[cfg(test)]
mod tests {
    use fedround_ir::Loc;
    use fedround_passes::fed::Unit;

    use super::*;

    fn mechanism(noise: NoiseKind, scale: f64, bound: f64) -> Mechanism {
        Mechanism {
            noise,
            scale,
            bound,
            adaptive: false,
            l1: noise == NoiseKind::Laplace,
            unit: Unit::Client,
            central: false,
            steps: None,
            cohort: None,
            repetitions: None,
            loc: Loc::caller(),
        }
    }

    /// `δ` at `ε` of Gaussian noise of 1 on one of two values at a distance of `mu`, by its definition,
    /// `∫ max(0, p(x) − e^ε q(x)) dx`, by the trapezoidal rule.
    fn delta_at(epsilon: f64, mu: f64) -> f64 {
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let width = 1e-4;
        let cells = ((mu + 40.0) / width) as u64;
        let sum = (0..cells).map(|i| {
            let x = -20.0 + i as f64 * width;
            (density(x - mu) - epsilon.exp() * density(x)).max(0.0)
        });
        sum.sum::<f64>() * width
    }

    #[test]
    fn gaussian_noise_added_many_times_is_one_of_a_larger_sensitivity() {
        // T times N(0, σ²) on values at a distance of 2 C: a sufficient statistic is their mean, at a
        // distance of 2 C √T / σ.
        for (scale, bound, times) in [(3.0, 0.5, 1.0_f64), (40.0, 1.0, 60.0), (90.0, 2.0, 300.0)] {
            let gaussian = mechanism(NoiseKind::Gaussian, scale, bound);
            for delta in [1e-5, 1e-3] {
                let epsilon = replaced(&gaussian, times, delta).unwrap();
                let mu = 2.0 * bound * times.sqrt() / scale;
                let found = delta_at(epsilon, mu);
                assert!((found - delta).abs() < 1e-3 * delta, "{found}, not {delta}");
                // Rényi accounting, ε = α T Δ² / 2σ² + ln(1/δ) / (α − 1), is above it, and not by much.
                let renyi = |alpha: f64| alpha * mu * mu / 2.0 - delta.ln() / (alpha - 1.0);
                let orders = (1..10_000).map(|i| renyi(1.0 + f64::from(i) / 50.0));
                let least = orders.fold(f64::INFINITY, f64::min);
                assert!(
                    epsilon < least && least < 1.6 * epsilon,
                    "{epsilon} {least}"
                );
            }
        }
    }

    #[test]
    fn deltas_are_short_and_rounded_up() {
        let texts = [0.0, 1e-5, 0.01, 1e-5 + 1e-5 + 1e-5, 2.5e-6].map(delta_text);
        assert_eq!(texts, ["0", "1e-5", "1e-2", "3e-5", "2.5e-6"]);
        let texts = [1.23e-5, 1.231e-5, 1.239e-5, 9.991e-6, 0.1 + 0.2].map(delta_text);
        assert_eq!(texts, ["1.23e-5", "1.24e-5", "1.24e-5", "1e-5", "3e-1"]);
    }

    #[test]
    fn laplace_noise_adds_up() {
        let laplace = mechanism(NoiseKind::Laplace, 4.0, 1.0);
        assert_eq!(replaced(&laplace, 30.0, 1e-5), Ok(15.0));
        let l2 = Mechanism {
            l1: false,
            ..laplace
        };
        assert_eq!(replaced(&l2, 30.0, 1e-5), Err(NoBound::Laplace));
        let none = mechanism(NoiseKind::Gaussian, 0.0, 1.0);
        assert_eq!(replaced(&none, 1.0, 1e-5), Err(NoBound::NoNoise));
    }
}
