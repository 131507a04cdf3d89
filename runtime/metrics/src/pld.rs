//! The privacy of training with noise by its privacy loss distribution, which is tighter than
//! [Rényi accounting](crate::accountant).
//!
//! The privacy loss of one step is rounded to a grid so that no `δ(ε)` becomes smaller: the mass between two
//! grid points goes to both of them, and keeps its probability under both neighbours (Doroshenko, Ghazi,
//! Kamath, Kumar and Manurangsi 2022, "Connect the Dots", <https://arxiv.org/abs/2207.04380>). The losses of
//! steps add up, so that their distribution is a convolution, by fast Fourier transforms (Koskela, Jälkö and
//! Honkela 2020, <https://arxiv.org/abs/1906.03049>).
//!
//! Where each client takes part with a probability of its own, neighbours differ by one client that is there
//! or not, and `ε` is that of the worse direction.
//!
//! Where a cohort has a fixed size, neighbours differ by one client that is another. Their outputs are
//! `P = (1 − q) A + q B` and `P' = (1 − q) A + q B'`, where `A` is what comes of cohorts without the client,
//! and any two of `A`, `B` and `B'` are as close as the mechanism on one cohort makes them. With
//! `H_α(P, Q) = sup_S P(S) − α Q(S)`, which is `δ` at `ε = ln α`, and `h(α)` its largest value for the noise
//! of one cohort:
//!
//! - For `a ≥ 1` and `α = 1 + (a − 1) / q`, `H_a(P, P') = q H_α(B, (1 − b) A + b B')` with `b = a / α`
//!   (Balle, Barthe and Gaboardi 2018, "Privacy Amplification by Subsampling", advanced joint convexity,
//!   <https://arxiv.org/abs/1807.01647>), and therefore `H_a(P, P') ≤ q h(α)`. For Gaussian noise, this is
//!   `H_a` of `(1 − q) N(0, σ²) + q N(1, σ²)` and `N(0, σ²)`: a client that leaves.
//! - For `a < 1`, `H_a(P, P') = 1 − a + a H_{1/a}(P', P)`, and `P'` and `P` are neighbours, too. So the bound
//!   of `1/a` gives that of `a`, which is `H_a` of the same two the other way around: a client that comes.
//!
//! Both parts meet at `a = 1` in a convex function: its slope there is `−Φ(−1/2σ)` on the right and at most
//! that on the left. It is therefore `H` of a pair of distributions that dominates all neighbours, and such
//! pairs compose (Zhu, Dong and Wang 2022, "Optimal Accounting of Differential Privacy via Characteristic
//! Function", <https://arxiv.org/abs/2106.08567>). As the density of losses is given by the curvature of `H`,
//! losses above 0 are those of the client that leaves, and losses below 0 those of the one that comes; what
//! is missing to 1 is at 0, where the slope jumps.

use libm::erfc;

use crate::MetricError;
use crate::accountant::Steps;
use crate::privacy::probability;

mod one_step;

use one_step::one_step;

/// The distance of grid points at first; it doubles until the grids of one step and of all steps have no more
/// than [`POINTS`].
const INTERVAL: f64 = 5e-4;
const POINTS: usize = 1 << 18;
/// Probability that is left out at each end, of the noise and of all steps, and counts as an unbounded loss.
const TAIL: f64 = 1e-16;
/// How many standard deviations of the noise are looked at; beyond is less than [`TAIL`].
const REACH: f64 = 9.0;

/// Losses on a grid: `mass[i]` is the probability of the loss `(first + i) · interval`.
#[derive(Clone, Debug)]
struct Losses {
    interval: f64,
    first: i64,
    mass: Vec<f64>,
    /// The probability of an unbounded loss.
    unbounded: f64,
}

/// Whose neighbour is the other one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Neighbour {
    /// Without the client.
    Leaves,
    /// With one more client.
    Comes,
}

impl Steps {
    /// The smallest `ε` for which all steps together are known to be `(ε, δ)`-differentially private by
    /// their privacy loss distribution; infinite if there is none. Computed in double precision: the
    /// probabilities of losses have errors of about 10⁻¹⁵.
    ///
    /// # Errors
    ///
    /// A parameter is out of its range.
    pub fn epsilon_by_losses(&self, delta: f64) -> Result<f64, MetricError> {
        self.check()?;
        probability("delta", delta)?;
        if self.count == 0 {
            return Ok(0.0);
        }
        let mut interval = INTERVAL;
        while interval.is_finite() {
            if let Some(all) = self.all_losses(interval) {
                let each = all.iter().map(|losses| losses.epsilon(delta));
                return Ok(each.fold(0.0, f64::max));
            }
            interval *= 2.0;
        }
        // The noise is so small that no grid holds the losses.
        Ok(f64::INFINITY)
    }

    /// The losses of all steps for each kind of neighbour; `None` if a grid has too many points.
    fn all_losses(&self, interval: f64) -> Option<Vec<Losses>> {
        let one = one_step(self, interval)?;
        let all = one.iter().map(|step| step.times(self.count));
        all.collect()
    }

    /// The privacy loss at a point `x` of the noised sum, where it is that of a client who leaves.
    fn loss(&self, x: f64) -> f64 {
        let (q, variance) = (self.rate, self.noise * self.noise);
        let exponent = (2.0 * x - 1.0) / (2.0 * variance);
        match q < 1.0 {
            // ln((1 − q) + q eᵃ)
            true => {
                let (a, b) = ((-q).ln_1p(), q.ln() + exponent);
                a.max(b) + (-(a - b).abs()).exp().ln_1p()
            }
            false => exponent,
        }
    }

    /// The point `x` at which the loss has a value; infinite where it is always more.
    fn point(&self, loss: f64) -> f64 {
        let (q, variance) = (self.rate, self.noise * self.noise);
        // (e^loss − (1 − q)) / q
        let ratio = (loss.exp_m1() + q) / q;
        match ratio > 0.0 {
            // Large losses overflow `exp`.
            true if loss > 500.0 => variance * (loss - q.ln()) + 0.5,
            true => variance * ratio.ln() + 0.5,
            false => f64::NEG_INFINITY,
        }
    }

    /// The losses of one step on a grid; `None` if it has too many points.
    fn losses(&self, neighbour: Neighbour, interval: f64) -> Option<Losses> {
        let sigma = self.noise;
        let (low, high) = (-REACH * sigma, 1.0 + REACH * sigma);
        let without = |a: f64, b: f64| between(a / sigma, b / sigma);
        let with = |a: f64, b: f64| {
            let there = between((a - 1.0) / sigma, (b - 1.0) / sigma);
            (1.0 - self.rate) * without(a, b) + self.rate * there
        };
        let leaves = neighbour == Neighbour::Leaves;
        // Where a client comes, the loss has the other sign.
        let sign = if leaves { 1.0 } else { -1.0 };
        let (least, most) = match leaves {
            true => (self.loss(low), self.loss(high)),
            false => (-self.loss(high), -self.loss(low)),
        };
        let (first, last) = ((least / interval).floor(), (most / interval).ceil());
        let points = points(first, last)?;
        let (first, last) = (first as i64, last as i64);
        let mut mass = vec![0.0; points];
        // The points from one grid loss to the next, within reach.
        let at = |i: i64| self.point(sign * i as f64 * interval).clamp(low, high);
        let mut before = at(first);
        for i in first..last {
            let next = at(i + 1);
            let (a, b) = (before.min(next), before.max(next));
            before = next;
            let (p, q) = match leaves {
                true => (with(a, b), without(a, b)),
                false => (without(a, b), with(a, b)),
            };
            // As much goes to the upper end as keeps the probability under the neighbour: all of it, where that
            // probability is too small for a double.
            let scaled = match q.is_normal() {
                true => (q.ln() + i as f64 * interval).exp(),
                false => 0.0,
            };
            let up = ((p - scaled) / -(-interval).exp_m1()).clamp(0.0, p);
            let here = (i - first) as usize;
            if let Some([lower, upper]) = mass.get_mut(here..here + 2) {
                *lower += p - up;
                *upper += up;
            }
        }
        // What is beyond reach.
        let total: f64 = mass.iter().sum();
        Some(Losses {
            interval,
            first,
            mass,
            unbounded: (1.0 - total).max(0.0),
        })
    }

    /// The losses of one step where a client of the cohort may be another; `None` if their grid has too many
    /// points.
    fn replaced(&self, interval: f64) -> Option<Losses> {
        let above = self.losses(Neighbour::Leaves, interval)?;
        let below = self.losses(Neighbour::Comes, interval)?;
        let first = below.first.min(0);
        let last = (above.first + above.mass.len() as i64 - 1).max(0);
        let of = |losses: &Losses, i: i64| {
            let at = usize::try_from(i - losses.first).ok();
            at.and_then(|at| losses.mass.get(at))
                .copied()
                .unwrap_or(0.0)
        };
        let mut mass: Vec<f64> = (first..=last)
            .map(|i| match i {
                ..0 => of(&below, i),
                0 => 0.0,
                _ => of(&above, i),
            })
            .collect();
        let rest = 1.0 - above.unbounded - mass.iter().sum::<f64>();
        if let Some(zero) = mass.get_mut(first.unsigned_abs() as usize) {
            *zero = rest.max(0.0);
        }
        Some(Losses {
            interval,
            first,
            mass,
            unbounded: above.unbounded,
        })
    }
}

impl Losses {
    /// `δ(ε) = Σ_{l > ε} p(l) (1 − e^{ε − l})`, with what is unbounded.
    fn delta(&self, epsilon: f64) -> f64 {
        let losses = self.mass.iter().enumerate().rev();
        let losses = losses.map(|(i, mass)| ((self.first + i as i64) as f64 * self.interval, mass));
        let above = losses.take_while(|(loss, _)| *loss > epsilon);
        let sum: f64 = above
            .map(|(loss, mass)| -mass * (epsilon - loss).exp_m1())
            .sum();
        self.unbounded + sum
    }

    /// The smallest `ε` of at least 0 with at most this `δ`.
    fn epsilon(&self, delta: f64) -> f64 {
        if self.delta(0.0) <= delta {
            return 0.0;
        }
        let top = (self.first + self.mass.len() as i64) as f64 * self.interval;
        if self.unbounded > delta {
            return f64::INFINITY;
        }
        let (mut low, mut high) = (0.0, top.max(0.0));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            match self.delta(middle) > delta {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

/// The number of points of a grid; `None` if there are too many.
fn points(first: f64, last: f64) -> Option<usize> {
    let points = last - first + 1.0;
    (points <= POINTS as f64).then_some(points as usize)
}

/// The probability that a standard normal number is between two, of which `a` is not above `b`.
fn between(a: f64, b: f64) -> f64 {
    let above = |x: f64| 0.5 * erfc(x / std::f64::consts::SQRT_2);
    let between = match a > 0.0 {
        true => above(a) - above(b),
        false => above(-b) - above(-a),
    };
    // `erfc` does not fall everywhere where its values have few digits.
    between.max(0.0)
}

#[cfg(test)]
mod tests;
