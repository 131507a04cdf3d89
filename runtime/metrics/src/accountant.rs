//! The privacy of training with noise (DP-SGD): Rényi differential privacy of the subsampled Gaussian
//! mechanism.
//!
//! A step selects each row independently with probability `q`, clips its gradient, and adds Gaussian noise
//! to the sum. The noise has `σ` times the clipping bound as its standard deviation. Neighbouring data sets
//! differ by one row, which is present or has a gradient of zero. The Rényi divergences of the steps add up
//! and are converted to `(ε, δ)`.
//!
//! This is not a bound for shuffled batches of a fixed size: Chua et al. 2024, "How Private are DP-SGD
//! Implementations?", <https://arxiv.org/abs/2403.17673>. With shuffled batches, a row is in one batch of
//! each pass, and `k` passes with noise `σ` are as private as one with `σ / √k`, for which
//! [`gaussian_epsilon`](crate::privacy::gaussian_epsilon) gives ε: Dong, Roth and Su 2022, "Gaussian
//! Differential Privacy", section 3, <https://arxiv.org/abs/1905.02383>.

use crate::MetricError;
use crate::privacy::{positive, probability};

/// The largest order `α` that is tried. Larger orders would be best only for so much noise that `ε` is below
/// 0.1.
const ORDERS: u32 = 512;

/// The largest order of the differences that bound the divergence of a cohort of fixed size. Beyond, a
/// simpler bound is taken.
const DIFFERENCES: u32 = 256;

/// How a step selects rows or clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Each one independently, with the same probability. Neighbouring data sets differ by the presence of
    /// one.
    Poisson,
    /// A fixed number of all, without replacement. Neighbouring data sets differ by replacing one.
    Fixed,
}

/// The steps of a training with noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// How a step selects rows or clients.
    pub sampling: Sampling,
    /// `q`: the probability with which a step selects one of them.
    pub rate: f64,
    /// `σ`: the standard deviation of the noise, in units of the most by which neighbours differ: of the
    /// clipping bound, or of twice that where one is replaced by another.
    pub noise: f64,
    /// The number of steps.
    pub count: u64,
}

impl Steps {
    /// An `ε` for which all steps together are `(ε, δ)`-differentially private: the minimum of
    /// `ρ(α) + ln((α−1)/α) − (ln δ + ln α) / (α−1)` over the integer orders `α` from 2 to 512, where `ρ(α)`
    /// is the Rényi divergence of all steps. Canonne, Kamath and Steinke 2020, "The Discrete
    /// Gaussian for Differential Privacy", Proposition 12, <https://arxiv.org/abs/2004.00010>.
    ///
    /// # Errors
    ///
    /// A parameter is out of its range.
    pub fn epsilon(&self, delta: f64) -> Result<f64, MetricError> {
        self.epsilon_of_orders(delta, ORDERS)
    }

    /// [`Self::epsilon`] with the orders up to `last` alone, which is a larger bound.
    ///
    /// # Errors
    ///
    /// A parameter is out of its range.
    pub fn epsilon_of_orders(&self, delta: f64, last: u32) -> Result<f64, MetricError> {
        self.check()?;
        probability("delta", delta)?;
        let differences = match self.sampling {
            Sampling::Fixed => self.differences(),
            Sampling::Poisson => vec![],
        };
        let of = |order: u32| {
            let one = match self.sampling {
                Sampling::Poisson => self.divergence(order),
                Sampling::Fixed => self.divergence_of_fixed(order, &differences),
            };
            let all = self.count as f64 * one;
            let alpha = f64::from(order);
            all + (-1.0 / alpha).ln_1p() - (delta.ln() + alpha.ln()) / (alpha - 1.0)
        };
        let least = (2..=last).map(of).fold(f64::INFINITY, f64::min);
        Ok(least.max(0.0))
    }

    pub(crate) fn check(&self) -> Result<(), MetricError> {
        positive("the noise", self.noise)?;
        match self.rate > 0.0 && self.rate <= 1.0 {
            true => Ok(()),
            false => Err(MetricError::Setting {
                what: "the sampling rate",
                value: self.rate,
                expected: "a number above 0 and at most 1",
            }),
        }
    }

    /// A bound on the Rényi divergence of one step at an integer order `α`, where a fixed number is drawn
    /// without replacement and one is replaced: Wang, Balle and Kasiviswanathan 2019, "Subsampled Rényi
    /// Differential Privacy and Analytical Moments Accountant", Theorem 27,
    /// <https://arxiv.org/abs/1808.00087>.
    fn divergence_of_fixed(&self, order: u32, differences: &[f64]) -> f64 {
        let alpha = f64::from(order);
        let variance = self.noise * self.noise;
        if self.rate >= 1.0 {
            return alpha / (2.0 * variance);
        }
        // ln E[(dP/dQ)^(x+1)] of the step without sampling.
        let moment = |x: f64| x * (x + 1.0) / (2.0 * variance);
        let two = 1.0 / variance;
        let difference = |i: u32| {
            let found = differences.get(i as usize);
            found.copied().unwrap_or(f64::INFINITY)
        };
        let mut choose = (alpha * (alpha - 1.0) / 2.0).ln();
        let mut sum = 0.0;
        for j in 2..=order {
            let term = match j {
                2 => (4.0_f64.ln() + two + (-(-two).exp()).ln_1p()).min(two + 2.0_f64.ln()),
                _ => {
                    let (low, high) = (difference(j / 2 * 2), difference(j.div_ceil(2) * 2));
                    let by_differences = 4.0_f64.ln() + 0.5 * (low + high);
                    by_differences.min(2.0_f64.ln() + moment(f64::from(j - 1)))
                }
            };
            let j = f64::from(j);
            sum = log_add(sum, choose + j * self.rate.ln() + term);
            choose += (alpha - j).ln() - (j + 1.0).ln();
        }
        sum / (alpha - 1.0)
    }

    /// The logarithms of the forward differences at 0, by their order, of `x ↦ exp(x (x − 1) / 2σ²)`. Those
    /// of even order are central moments of the likelihood ratio, and positive.
    fn differences(&self) -> Vec<f64> {
        let twice = 2.0 * self.noise * self.noise;
        let last = DIFFERENCES as usize;
        // Signed logarithms, which do not overflow.
        let mut values: Vec<(bool, f64)> = (0..=last)
            .map(|x| (true, x as f64 * (x as f64 - 1.0) / twice))
            .collect();
        let mut all = vec![0.0];
        for _ in 1..=last {
            let pairs = values.windows(2).filter_map(|pair| match pair {
                [a, b] => Some(log_sub(*b, *a)),
                _ => None,
            });
            values = pairs.collect();
            all.push(values.first().map_or(f64::INFINITY, |(_, log)| *log));
        }
        all
    }

    /// The Rényi divergence of one step at an integer order `α`: Mironov, Talwar and Zhang 2019,
    /// section 3.3, <https://arxiv.org/abs/1908.10530>,
    /// `1/(α−1) · ln Σ_k C(α, k) (1−q)^(α−k) q^k exp((k²−k) / 2σ²)`.
    fn divergence(&self, order: u32) -> f64 {
        let alpha = f64::from(order);
        let (rate, variance) = (self.rate, self.noise * self.noise);
        let mut choose = 0.0_f64;
        let mut sum = f64::NEG_INFINITY;
        for k in 0..=order {
            let k = f64::from(k);
            // For a row that every step selects, only the last term is not zero.
            let out = if k < alpha {
                (alpha - k) * (-rate).ln_1p()
            } else {
                0.0
            };
            let term = choose + out + k * rate.ln() + (k * k - k) / (2.0 * variance);
            sum = log_add(sum, term);
            choose += (alpha - k).ln() - (k + 1.0).ln();
        }
        sum / (alpha - 1.0)
    }
}

/// `b − a` of numbers as a sign and the logarithm of their size.
fn log_sub((positive, b): (bool, f64), (other, a): (bool, f64)) -> (bool, f64) {
    if positive != other {
        return (positive, log_add(a, b));
    }
    let (most, least) = (a.max(b), a.min(b));
    let size = match most == least {
        true => f64::NEG_INFINITY,
        false => most + (-(least - most).exp()).ln_1p(),
    };
    // The larger one says the sign.
    (if b >= a { positive } else { !positive }, size)
}

/// `ln(eᵃ + eᵇ)`.
fn log_add(a: f64, b: f64) -> f64 {
    let (most, least) = (a.max(b), a.min(b));
    if least == f64::NEG_INFINITY {
        return most;
    }
    most + (least - most).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::gaussian_epsilon;

    fn steps(rate: f64, noise: f64, count: u64) -> Steps {
        Steps {
            sampling: Sampling::Poisson,
            rate,
            noise,
            count,
        }
    }

    /// The same divergence by its definition, `1/(α−1) · ln E[((1−q) + q·p₁(x)/p₀(x))^α]` over
    /// `x ~ N(0, σ²)`, by the trapezoidal rule.
    fn integrated(rate: f64, noise: f64, alpha: f64) -> f64 {
        let (variance, width) = (noise * noise, 1e-3);
        let reach = 12.0 * noise + alpha;
        let cells = (2.0 * reach / width) as u64;
        let density = |x: f64| {
            let ratio = (1.0 - rate) + rate * ((2.0 * x - 1.0) / (2.0 * variance)).exp();
            let log = alpha * ratio.ln() - x * x / (2.0 * variance);
            log.exp() / (noise * std::f64::consts::TAU.sqrt())
        };
        let sum: f64 = (0..=cells)
            .map(|i| density(-reach + i as f64 * width))
            .sum();
        (sum * width).ln() / (alpha - 1.0)
    }

    #[test]
    fn the_sum_is_the_integral() {
        for (rate, noise) in [(0.01, 1.1), (0.1, 2.0), (0.5, 0.8), (1.0, 3.0)] {
            for order in [2, 3, 8, 20] {
                let found = steps(rate, noise, 1).divergence(order);
                let expected = integrated(rate, noise, f64::from(order));
                let error = (found - expected).abs() / expected;
                assert!(error < 1e-6, "{rate} {noise} {order}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_row_in_every_step_meets_the_plain_mechanism() {
        // α / 2σ², Mironov 2017, Corollary 3.
        for order in [2, 7, 64] {
            let found = steps(1.0, 2.5, 1).divergence(order);
            assert!((found - f64::from(order) / 12.5).abs() < 1e-9, "{found}");
        }
        // What is exact is less, and not much less.
        for count in [1_u32, 10, 100] {
            let passes = f64::from(count).sqrt();
            let exact = gaussian_epsilon(passes, 2.5, 1e-5).unwrap();
            let found = steps(1.0, 2.5, count.into()).epsilon(1e-5).unwrap();
            assert!(exact < found && found < 1.1 * exact, "{found} {exact}");
        }
    }

    /// Batches of 256 of MNIST's 60,000, σ = 1.1, 60 epochs: TensorFlow Privacy's tutorial.
    #[test]
    fn sixty_epochs_of_mnist() {
        let steps = steps(256.0 / 60_000.0, 1.1, 60 * 60_000 / 256);
        let epsilon = steps.epsilon(1e-5).unwrap();
        // The formulas with binomials by the gamma function, in Python.
        assert!((epsilon - 2.596_981).abs() < 1e-5, "{epsilon}");
    }

    #[test]
    fn so_much_noise_that_nothing_is_left() {
        assert_eq!(steps(0.01, 1e6, 1).epsilon(0.01).unwrap(), 0.0);
    }

    #[test]
    fn more_noise_fewer_steps_and_fewer_rows_are_less() {
        let of = |rate, noise, count| steps(rate, noise, count).epsilon(1e-5).unwrap();
        let here = of(0.02, 1.0, 1000);
        assert!(of(0.02, 1.5, 1000) < here);
        assert!(of(0.02, 1.0, 500) < here);
        assert!(of(0.01, 1.0, 1000) < here);
    }

    #[test]
    fn what_is_out_of_range_is_said() {
        for bad in [steps(0.0, 1.0, 1), steps(1.5, 1.0, 1), steps(0.5, 0.0, 1)] {
            assert!(matches!(
                bad.epsilon(1e-5),
                Err(MetricError::Setting { .. })
            ));
        }
        assert!(steps(0.5, 1.0, 1).epsilon(0.0).is_err());
    }
}
