//! The losses of one step, which do not depend on how many there are. A process keeps them, as a run asks for the ε
//! of one step more after each of its rounds, and computing them takes most of the time.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Losses, Neighbour, TAIL, points};
use crate::accountant::{Sampling, Steps};
use crate::fft::circular_power;

/// The most grid points that are kept, in 32 MiB. A step has at most a quarter of them on all grids together, as
/// each grid has half as many as the one before.
const KEPT: usize = 1 << 22;

/// All that the losses of a step depend on, bit by bit: whether cohorts have a fixed size; the rate, the noise and
/// the interval.
type Key = (bool, [u64; 3]);

/// Steps, each for all kinds of neighbours, the one that was computed longest ago first.
type Known = Vec<(Key, Arc<[OneStep]>)>;

static KNOWN: Mutex<Known> = Mutex::new(vec![]);

/// The losses of one step, for their sums.
pub(super) struct OneStep {
    losses: Losses,
    /// For some exponents, the [`Losses::growth`] of losses with the other sign and with their own. One step alone
    /// does not need it.
    growth: OnceLock<Vec<(f64, [f64; 2])>>,
}

/// One of these steps on a grid, for each kind of neighbour; `None` if the grid has too many points.
pub(super) fn one_step(steps: &Steps, interval: f64) -> Option<Arc<[OneStep]>> {
    let numbers = [steps.rate, steps.noise, interval].map(f64::to_bits);
    let key = (steps.sampling == Sampling::Fixed, numbers);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().iter().find(|(of, _)| *of == key).cloned();
    if let Some((_, step)) = found {
        return Some(step);
    }
    // Without the lock, so that other runs of the process need not wait.
    let step = computed(steps, interval)?;
    keep(&mut known(), key, step.clone());
    Some(step)
}

/// Keeps one more, in the place of older ones if need be.
fn keep(known: &mut Known, key: Key, step: Arc<[OneStep]>) {
    known.push((key, step));
    let size = |step: &[OneStep]| -> usize { step.iter().map(|one| one.losses.mass.len()).sum() };
    let mut sum: usize = known.iter().map(|(_, step)| size(step)).sum();
    while sum > KEPT {
        let (_, oldest) = known.remove(0);
        sum -= size(&oldest);
    }
}

fn computed(steps: &Steps, interval: f64) -> Option<Arc<[OneStep]>> {
    let all = match steps.sampling {
        Sampling::Poisson => vec![
            steps.losses(Neighbour::Leaves, interval)?,
            steps.losses(Neighbour::Comes, interval)?,
        ],
        Sampling::Fixed => vec![steps.replaced(interval)?],
    };
    let all = all.into_iter().map(|losses| OneStep {
        losses,
        growth: OnceLock::new(),
    });
    Some(all.collect())
}

impl OneStep {
    /// The losses of so many steps; `None` if their grid has too many points.
    pub(super) fn times(&self, count: u64) -> Option<Losses> {
        let one = &self.losses;
        if count == 1 {
            return Some(one.clone());
        }
        let n = count as f64;
        let [low, high] = self.beyond(n);
        let least = (one.first as f64 * n).max((-low / one.interval).floor());
        let top = (one.first + one.mass.len() as i64 - 1) as f64 * n;
        let most = top.min((high / one.interval).ceil());
        let size = points(least, most)?.max(one.mass.len());
        let size = size.next_power_of_two();
        let mut values = vec![0.0; size];
        let place = |i: i64| i.rem_euclid(size as i64) as usize;
        for (i, mass) in (one.first..).zip(&one.mass) {
            if let Some(value) = values.get_mut(place(i)) {
                *value += mass;
            }
        }
        let values = circular_power(&values, n);
        let of = |i: i64| values.get(place(i)).copied().unwrap_or_default();
        let mass = (least as i64..=most as i64).map(|i| of(i).max(0.0));
        // What lies outside has come in at the other end.
        let bounded = n * (-one.unbounded).ln_1p();
        Some(Losses {
            interval: one.interval,
            first: least as i64,
            mass: mass.collect(),
            unbounded: -bounded.exp_m1() + 2.0 * TAIL,
        })
    }

    /// Bounds beyond which the sum of `n` losses is with a probability of at most [`TAIL`] each, of losses with the
    /// other sign and with their own: Chernoff's, for the best of some exponents.
    fn beyond(&self, n: f64) -> [f64; 2] {
        let growth = self.growth.get_or_init(|| {
            let exponents = (-12..=16).map(|i| 2.0_f64.powf(f64::from(i) / 2.0));
            let both = |exponent: f64| [-exponent, exponent].map(|one| self.losses.growth(one));
            exponents
                .map(|exponent| (exponent, both(exponent)))
                .collect()
        });
        let mut beyond = [f64::INFINITY; 2];
        for (exponent, both) in growth {
            for (bound, growth) in beyond.iter_mut().zip(both) {
                *bound = bound.min((n * growth - TAIL.ln()) / exponent);
            }
        }
        beyond
    }
}

impl Losses {
    /// The logarithm of the expected `exp(exponent · loss)`.
    fn growth(&self, exponent: f64) -> f64 {
        let losses = (self.first..)
            .zip(&self.mass)
            .filter(|(_, mass)| **mass > 0.0);
        let terms = losses.map(|(i, mass)| mass.ln() + exponent * i as f64 * self.interval);
        let terms: Vec<f64> = terms.collect();
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| (term - most).exp()).sum();
        most + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_the_bits_of_what_is_computed_in_any_order() {
        let interval = 1e-2;
        let counts = [3, 1, 40, 2];
        for sampling in [Sampling::Poisson, Sampling::Fixed] {
            let steps = Steps {
                sampling,
                rate: 0.1,
                noise: 1.5,
                count: 1,
            };
            let bits = |steps: &[OneStep], count| -> Vec<u64> {
                let all = steps.iter().flat_map(|one| {
                    let Losses {
                        mass, unbounded, ..
                    } = one.times(count).unwrap();
                    mass.into_iter().chain([unbounded])
                });
                all.map(f64::to_bits).collect()
            };
            let expected = counts.map(|count| bits(&computed(&steps, interval).unwrap(), count));
            let pairs = || counts.into_iter().zip(&expected);
            for (count, expected) in pairs().rev().chain(pairs()) {
                let kept = one_step(&steps, interval).unwrap();
                assert_eq!(bits(&kept, count), *expected, "{steps:?} {count}");
            }
        }
    }

    #[test]
    fn the_oldest_are_left_out() {
        let of = |points| -> Arc<[OneStep]> {
            let losses = Losses {
                interval: 1.0,
                first: 0,
                mass: vec![0.0; points],
                unbounded: 0.0,
            };
            let growth = OnceLock::new();
            Arc::new([OneStep { losses, growth }])
        };
        let mut known = vec![];
        for (i, points) in [KEPT / 2, KEPT / 4, KEPT / 4, 1].into_iter().enumerate() {
            keep(&mut known, (true, [i as u64; 3]), of(points));
        }
        let left: Vec<u64> = known.iter().map(|((_, [i, ..]), _)| *i).collect();
        assert_eq!(left, [1, 2, 3]);
    }
}
