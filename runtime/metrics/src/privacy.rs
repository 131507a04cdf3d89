//! Differential privacy: the ε of noise on a bounded value, and of several mechanisms together.
//!
//! A mechanism `M` is `(ε, δ)`-differentially private if `Pr[M(D) ∈ S] ≤ e^ε Pr[M(D') ∈ S] + δ` for all
//! neighbouring data sets `D` and `D'` and all sets `S`.

use libm::erfc;

use crate::MetricError;

/// `Φ(x)`, the distribution function of the standard normal distribution.
fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// `e^ε Φ(−x)` for `x > 0`, also if a factor alone overflows or underflows.
fn scaled_tail(epsilon: f64, x: f64) -> f64 {
    if x < 20.0 {
        return (epsilon + normal_cdf(-x).ln()).exp();
    }
    // Mills' ratio: Φ(−x) = φ(x)/x · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …). It ends with a negative term, so that
    // the tail is never taken for more than it is, and ε never for less.
    let square = x * x;
    let inverse = 1.0 / square;
    let series = (1.0 - inverse * (1.0 - inverse * (3.0 - inverse * 15.0))).ln();
    let log = -0.5 * square - x.ln() - 0.5 * std::f64::consts::TAU.ln() + series;
    (epsilon + log).exp()
}

/// Fails unless a parameter is positive and finite.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), MetricError> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(MetricError::Setting {
            what,
            value,
            expected: "a positive number",
        }),
    }
}

pub(crate) fn probability(what: &'static str, value: f64) -> Result<(), MetricError> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(MetricError::Setting {
            what,
            value,
            expected: "a number between 0 and 1",
        }),
    }
}

/// The smallest `ε` for which Gaussian noise of standard deviation `sigma` on a value of L2 sensitivity
/// `sensitivity` is `(ε, δ)`-differentially private. This is the analytic Gaussian mechanism, which is exact
/// for every `ε` (Balle and Wang, ICML 2018, Theorem 8).
///
/// # Errors
///
/// A parameter is out of its range.
pub fn gaussian_epsilon(sensitivity: f64, sigma: f64, delta: f64) -> Result<f64, MetricError> {
    positive("the sensitivity", sensitivity)?;
    positive("the standard deviation", sigma)?;
    probability("delta", delta)?;
    let (a, b) = (sensitivity / (2.0 * sigma), sigma / sensitivity);
    let excess = |e: f64| normal_cdf(a - e * b) - scaled_tail(e, a + e * b) - delta;
    if excess(0.0) <= 0.0 {
        return Ok(0.0);
    }
    // The function decreases in ε. It is negative at the ε of a tail bound with twice the value of a:
    // a²/2 + a √(2 ln 1/δ).
    let (mut low, mut high) = (
        0.0,
        2.0 * a * a + 2.0 * a * (2.0 * (1.0 / delta).ln()).sqrt(),
    );
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        match excess(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(high)
}

/// The `ε` of Laplace noise of scale `b` on a value of L1 sensitivity `sensitivity`: `Δ₁/b`, with
/// `δ = 0`.
///
/// # Errors
///
/// A parameter is out of its range.
pub fn laplace_epsilon(sensitivity: f64, b: f64) -> Result<f64, MetricError> {
    positive("the sensitivity", sensitivity)?;
    positive("the scale", b)?;
    Ok(sensitivity / b)
}

/// The privacy of several mechanisms on the same data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Composed {
    /// `ε` of all mechanisms together.
    pub epsilon: f64,
    /// `δ` of all mechanisms together.
    pub delta: f64,
}

/// The adaptive composition of `count` mechanisms, each `(ε, δ)`-differentially private: Kairouz, Oh and
/// Viswanath, ICML 2015, Theorem 3.4 (Theorem 3.4 of FedFed). `slack` is the theorem's `δ̃`.
///
/// # Errors
///
/// A parameter is out of its range.
pub fn compose(
    epsilon: f64,
    delta: f64,
    count: usize,
    slack: f64,
) -> Result<Composed, MetricError> {
    positive("epsilon", epsilon)?;
    probability("the slack", slack)?;
    if !(0.0..1.0).contains(&delta) {
        probability("delta", delta)?;
    }
    let k = count as f64;
    let mean = k * epsilon * (epsilon / 2.0).tanh();
    let spread = |x: f64| epsilon * (2.0 * k * x.ln()).sqrt();
    let bounds = [
        k * epsilon,
        mean + spread(std::f64::consts::E + (k * epsilon * epsilon).sqrt() / slack),
        mean + spread(1.0 / slack),
    ];
    let kept = (1.0 - slack) * (1.0 - delta).powf(k);
    Ok(Composed {
        epsilon: bounds.into_iter().fold(f64::INFINITY, f64::min),
        delta: 1.0 - kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        let error = (found - expected).abs() / expected.abs().max(1e-12);
        assert!(error < 1e-5, "{found} for {expected}");
    }

    #[test]
    fn compositions_are_those_of_the_theorem() {
        let epsilon = |e, k| compose(e, 0.0, k, 1e-5).unwrap().epsilon;
        close(epsilon(0.1, 10), 1.0);
        close(epsilon(0.1, 100), 5.298_11);
        // The third bound alone is 19.795 where ε = 1; the sum is less.
        close(epsilon(1.0, 10), 10.0);
        let both = compose(0.1, 1e-6, 100, 1e-5).unwrap();
        close(both.delta, 1.099_94e-4);
    }

    #[test]
    fn the_exact_epsilon_is_where_its_delta_is_reached() {
        for (sensitivity, sigma, delta) in [(1.0, 0.15, 1e-5), (2.0, 4.0, 1e-3), (6.0, 0.15, 1e-5)]
        {
            let e: f64 = gaussian_epsilon(sensitivity, sigma, delta).unwrap();
            let (a, b) = (sensitivity / (2.0 * sigma), sigma / sensitivity);
            let back = normal_cdf(a - e * b) - scaled_tail(e, a + e * b);
            assert!((back - delta).abs() < 1e-3 * delta, "{back}");
        }
    }

    #[test]
    fn more_noise_is_less_epsilon() {
        let of = |sigma| gaussian_epsilon(1.0, sigma, 1e-5).unwrap();
        assert!(of(0.1) > of(0.2) && of(0.2) > of(2.0) && of(2.0) > of(200.0));
        assert_eq!(of(1e9), 0.0);
        close(laplace_epsilon(2.0, 0.4).unwrap(), 5.0);
    }

    #[test]
    fn what_is_out_of_range_is_said() {
        for bad in [
            gaussian_epsilon(0.0, 1.0, 1e-5),
            gaussian_epsilon(1.0, f64::NAN, 1e-5),
            gaussian_epsilon(1.0, 1.0, 1.0),
            laplace_epsilon(1.0, 0.0),
        ] {
            assert!(matches!(bad, Err(MetricError::Setting { .. })), "{bad:?}");
        }
        assert!(compose(1.0, 0.0, 3, 0.0).is_err());
    }
}
