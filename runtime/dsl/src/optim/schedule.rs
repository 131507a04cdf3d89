//! Step sizes that depend on time.
//!
//! Time `t` counts from 0 and is a number of the graph: the round, `k.round()` or
//! `server.round()`, or a count of steps that a loop carries. Each function multiplies the step
//! size that it receives, so that schedules compose:
//!
//! ```ignore
//! let t = k.round();
//! let lr = warmup(cosine(self.lr, &t, 100.0), &t, 5.0);
//! let mut opt = Sgd::new(lr).start(&w);
//! ```
//!
//! A constant step size needs no schedule.

use std::f64::consts::PI;

use fedround_ir::Loc;

use crate::Scalar;
use crate::rate::Rate;
use crate::scalar_functions::Real;

/// `η · γ^⌊t / s⌋`: by a factor `γ` every `s`, as PyTorch's `StepLR`.
#[must_use]
#[track_caller]
pub fn step<T: Real>(lr: impl Rate, t: &T, every: impl Rate, gamma: impl Rate) -> T {
    let loc = Loc::caller();
    let (every, gamma) = (every.rate(loc), gamma.rate(loc));
    scaled(lr, t, loc, |t| gamma.pow((t / every).floor()))
}

/// `η · γᵗ`, as PyTorch's `ExponentialLR`.
#[must_use]
#[track_caller]
pub fn exponential<T: Real>(lr: impl Rate, t: &T, gamma: impl Rate) -> T {
    let loc = Loc::caller();
    let gamma = gamma.rate(loc);
    scaled(lr, t, loc, |t| gamma.pow(t))
}

/// `η / √(t + 1)`.
#[must_use]
#[track_caller]
pub fn inverse_sqrt<T: Real>(lr: impl Rate, t: &T) -> T {
    scaled(lr, t, Loc::caller(), |t| 1.0 / (t + 1.0).sqrt())
}

/// `η / (1 + γ t)`.
#[must_use]
#[track_caller]
pub fn inverse_time<T: Real>(lr: impl Rate, t: &T, gamma: impl Rate) -> T {
    let loc = Loc::caller();
    let gamma = gamma.rate(loc);
    scaled(lr, t, loc, |t| 1.0 / (gamma * t + 1.0))
}

/// `η · ½ (1 + cos(π t / T))` until `T`, 0 from there on: half a period of a cosine. Loshchilov &
/// Hutter 2017, "SGDR: Stochastic gradient descent with warm restarts", Eq. (5), without restarts.
#[must_use]
#[track_caller]
pub fn cosine<T: Real>(lr: impl Rate, t: &T, end: impl Rate) -> T {
    let loc = Loc::caller();
    let end = end.rate(loc);
    scaled(lr, t, loc, |t| {
        0.5 * ((PI * (t / end).min(1.0)).cos() + 1.0)
    })
}

/// `η · min(1, (t + 1) / s)`: a straight line from `η / s` to `η` in the first `s`.
#[must_use]
#[track_caller]
pub fn warmup<T: Real>(lr: impl Rate, t: &T, steps: impl Rate) -> T {
    let loc = Loc::caller();
    let steps = steps.rate(loc);
    scaled(lr, t, loc, |t| ((t + 1.0) / steps).min(1.0))
}

fn scaled<T: Real>(lr: impl Rate, t: &T, loc: Loc, by: impl FnOnce(Scalar) -> Scalar) -> T {
    let lr = lr.rate(loc);
    t.of(lr * by(t.to_scalar()), loc)
}
