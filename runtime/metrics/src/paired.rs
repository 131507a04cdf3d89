//! Differences of two algorithms that ran with the same seeds.
//!
//! Runs of one seed share the partition, the initial parameters and the cohorts. Much of what differs between seeds
//! is therefore the same for both algorithms, and disappears in the difference of a pair.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The probability with which an interval holds the true difference.
const CONFIDENCE: f64 = 0.95;

/// A spread of less than this share of the largest value is the error of rounding.
const ROUNDING: f64 = 1e-9;

/// The mean difference of pairs, by Student's t-test for pairs ("The probable error of a mean", 1908).
///
/// The interval and the probability assume that differences are drawn independently from a normal distribution.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct PairedDifference {
    /// The mean of the differences.
    pub mean: f64,
    /// The lower end of the 95 % interval of the mean.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The two-sided probability of a mean at least as far from zero if the true one is zero. `None` if all pairs
    /// differ by the same amount, other than 0: without a spread there is nothing to compare the mean with.
    pub p: Option<f64>,
    /// The number of pairs.
    pub pairs: usize,
}

impl PairedDifference {
    /// The difference `ours - theirs` of pairs `(ours, theirs)`. `None` for fewer than two pairs, of which no spread
    /// is known, and for values that are not finite.
    ///
    /// Pairs that all differ by the same amount, up to rounding, have an interval without width. They have no
    /// probability, or that of 1 if the amount is 0.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours - theirs).collect();
        if differences.iter().any(|d| !d.is_finite()) {
            return None;
        }
        let (mean, error) = mean_and_error(&differences);
        let (mut low, mut high) = mean_interval(&differences)?;
        let student = student(differences.len())?;
        let values = pairs.iter().flat_map(|(ours, theirs)| [ours, theirs]);
        let rounding = ROUNDING * values.fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let p = match (error <= rounding, mean.abs() <= rounding) {
            (false, _) => Some(2.0 * student.cdf(-(mean / error).abs())),
            (true, true) => Some(1.0),
            (true, false) => None,
        };
        if error <= rounding {
            (low, high) = (mean, mean);
        }
        Some(Self {
            mean,
            low,
            high,
            p,
            pairs: differences.len(),
        })
    }

    /// The interval that holds the true difference with this probability; [`low`](Self::low) and
    /// [`high`](Self::high) are that of 95 %.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let Some(student) = student(self.pairs) else {
            return (self.low, self.high);
        };
        let quantile = |confidence: f64| student.inverse_cdf(0.5 + confidence / 2.0);
        let half = 0.5 * (self.high - self.low) * quantile(confidence) / quantile(CONFIDENCE);
        (self.mean - half, self.mean + half)
    }
}

/// One of several differences that are looked at together: of a table's rows.
///
/// Its probability is corrected by Holm's method. Its interval has the level at which that method tests it, so that
/// it is without zero exactly if the corrected probability is below 5 %. Each interval alone holds its true difference
/// with at least 95 %. That all of them do at once is less likely: Holm's method bounds the chance that any difference
/// is shown by accident, and not that of an interval beside its true difference.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct CorrectedDifference {
    /// The difference alone.
    #[serde(flatten)]
    pub difference: PairedDifference,
    /// The probability, corrected for the number of differences; `None` where there is none.
    pub p_holm: Option<f64>,
    /// The lower end of the corrected interval.
    pub low_holm: f64,
    /// Its upper end.
    pub high_holm: f64,
}

impl CorrectedDifference {
    /// Whether the corrected interval is without zero. An interval without width, of pairs that all differ by the
    /// same amount, shows nothing.
    pub fn is_shown(&self) -> bool {
        self.p_holm.is_some() && (self.low_holm > 0.0 || self.high_holm < 0.0)
    }
}

/// Corrects differences that are looked at together, in their order. A row without a difference, or without a
/// probability, is not tested and does not count.
pub fn corrected(rows: &[Option<PairedDifference>]) -> Vec<Option<CorrectedDifference>> {
    corrected_in(rows, 0)
}

/// Corrects differences as [`corrected`] does, for a family of `family` differences that was fixed in advance. Those
/// that are not among the rows, or are not known, count as ones that show nothing, so that a row's correction does
/// not shrink when others are left out. Those without a probability do not count: nothing can be shown by accident
/// where nothing is tested.
pub fn corrected_in(
    rows: &[Option<PairedDifference>],
    family: usize,
) -> Vec<Option<CorrectedDifference>> {
    let known: Vec<f64> = rows.iter().flatten().filter_map(|row| row.p).collect();
    let untested = rows.iter().flatten().filter(|row| row.p.is_none()).count();
    let family = family.saturating_sub(untested).max(known.len());
    let mut tests = holm(&known, family).into_iter().zip(levels(&known, family));
    let correct = |row: &Option<PairedDifference>| {
        let difference = (*row)?;
        let test = difference.p.and_then(|_| tests.next());
        let (low_holm, high_holm) = match test {
            Some((_, level)) => difference.interval(1.0 - level),
            None => (difference.low, difference.high),
        };
        Some(CorrectedDifference {
            difference,
            p_holm: test.map(|(p_holm, _)| p_holm),
            low_holm,
            high_holm,
        })
    };
    rows.iter().map(correct).collect()
}

/// The level at which Holm's method tests each probability; from the first that is not below its own, all have
/// that one's.
fn levels(p: &[f64], family: usize) -> Vec<f64> {
    let (mut levels, mut level) = (vec![0.0; p.len()], 0.0);
    let mut all_below = true;
    for (rank, i) in ascending(p).into_iter().enumerate() {
        if all_below {
            level = (1.0 - CONFIDENCE) / (family - rank) as f64;
            all_below = p[i] < level;
        }
        levels[i] = level;
    }
    levels
}

/// The places of numbers in ascending order.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

/// Student's 95 % interval of the mean of a sample. `None` for fewer than two values, and for values that are not
/// finite.
pub fn mean_interval(values: &[f64]) -> Option<(f64, f64)> {
    let quantile = student(values.len())?.inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let (mean, error) = mean_and_error(values);
    let half = error * quantile;
    half.is_finite().then_some((mean - half, mean + half))
}

/// The distribution of the mean of `n` values in units of its standard error.
fn student(n: usize) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, n as f64 - 1.0).ok()
}

/// The mean, and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Corrects the probabilities of several tests, so that the chance that any of them is small by accident is at most
/// what it says (Holm, "A simple sequentially rejective multiple test procedure", 1979). `p` has the smallest
/// probabilities of `family` tests. The `i`-th result belongs to the `i`-th probability.
fn holm(p: &[f64], family: usize) -> Vec<f64> {
    let mut corrected = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, i) in ascending(p).into_iter().enumerate() {
        largest = largest.max(p[i] * (family - rank) as f64);
        corrected[i] = largest.min(1.0);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    /// Student's own example: hours of sleep gained by ten patients with two drugs. R's
    /// `t.test(extra ~ group, data = sleep, paired = TRUE)` prints these numbers.
    #[test]
    fn students_sleep_data_have_the_published_interval() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let found = PairedDifference::of(&pairs).unwrap();
        close(found.mean, -1.58);
        close(found.low, -2.459_885_8);
        close(found.high, -0.700_114_2);
        close(found.p.unwrap(), 0.002_832_89);
        assert_eq!(found.pairs, 10);
    }

    /// With two pairs the distribution is Cauchy's, whose quantile is the tangent.
    #[test]
    fn two_pairs_follow_cauchy() {
        let found = PairedDifference::of(&[(1.0, 0.0), (3.0, 0.0)]).unwrap();
        let quantile = (std::f64::consts::PI * 0.475).tan();
        close(found.mean, 2.0);
        close(found.high, 2.0 + quantile);
        close(found.low, 2.0 - quantile);
        let p = 1.0 - 2.0 * 2.0_f64.atan() / std::f64::consts::PI;
        close(found.p.unwrap(), p);
    }

    #[test]
    fn the_difference_turns_with_the_order_and_ignores_what_both_share() {
        let pairs = [(0.9, 0.5), (0.4, 0.1), (0.7, 0.35)];
        let found = PairedDifference::of(&pairs).unwrap();
        let turned = PairedDifference::of(&pairs.map(|(a, b)| (b, a))).unwrap();
        close(found.low, -turned.high);
        close(found.p.unwrap(), turned.p.unwrap());
        let shifted = PairedDifference::of(&pairs.map(|(a, b)| (a + 5.0, b + 5.0))).unwrap();
        close(found.high, shifted.high);
    }

    /// R's `t.test(1:10)$conf.int` is 3.334149 and 7.665851.
    #[test]
    fn the_interval_of_a_mean_is_that_of_r() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let (low, high) = mean_interval(&values).unwrap();
        close(low, 3.334_149_4);
        close(high, 7.665_850_6);
        assert_eq!(
            (mean_interval(&[1.0]), mean_interval(&[1.0, f64::NAN])),
            (None, None)
        );
    }

    #[test]
    fn what_has_no_spread_is_said() {
        assert_eq!(PairedDifference::of(&[]), None);
        assert_eq!(PairedDifference::of(&[(1.0, 0.0)]), None);
        assert_eq!(PairedDifference::of(&[(1.0, f64::NAN), (1.0, 0.0)]), None);
        let same = PairedDifference::of(&[(1.0, 1.0), (2.0, 2.0)]).unwrap();
        assert_eq!((same.low, same.high, same.p), (0.0, 0.0, Some(1.0)));
        let always = PairedDifference::of(&[(1.0, 0.5), (2.0, 1.5)]).unwrap();
        assert_eq!((always.low, always.high, always.p), (0.5, 0.5, None));
        // One more test example is right with each seed, and the differences differ by rounding.
        let pairs = [(0.51, 0.5), (0.61, 0.6), (0.71, 0.7)];
        let by_one = PairedDifference::of(&pairs).unwrap();
        assert_eq!((by_one.p, by_one.low), (None, by_one.mean));
        // Nothing of it is shown, and it takes no part in the correction of others.
        let spread = PairedDifference::of(&[(0.9, 0.5), (0.8, 0.5), (0.7, 0.5)]);
        let found = corrected(&[Some(by_one), spread]);
        let (first, second) = (found[0].unwrap(), found[1].unwrap());
        assert_eq!((first.is_shown(), first.p_holm), (false, None));
        assert_eq!(second.p_holm, spread.unwrap().p);
        assert_eq!(corrected_in(&[Some(by_one), spread], 2), found);
        let rounded = PairedDifference::of(&[(0.1 + 0.2, 0.3), (0.7, 0.7)]).unwrap();
        assert_eq!(rounded.p, Some(1.0));
    }

    /// R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` is 0.03, 0.06, 0.06, 0.02.
    #[test]
    fn holms_correction_is_that_of_r() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005], 4);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(*found, expected);
        }
        assert_eq!(holm(&[0.9, 0.8], 2), [1.0, 1.0]);
        assert_eq!(holm(&[0.03], 1), [0.03]);
        assert!(holm(&[], 0).is_empty());
    }

    /// R's `t.test(extra ~ group, data = sleep, paired = TRUE, conf.level = 0.99)$conf.int`.
    #[test]
    fn intervals_of_other_confidences_are_those_of_r() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let found = PairedDifference::of(&pairs).unwrap();
        let (low, high) = found.interval(0.99);
        close(low, -2.844_051_9);
        close(high, -0.315_948_1);
        let (low, high) = found.interval(CONFIDENCE);
        close(low, found.low);
        close(high, found.high);
    }

    #[test]
    fn a_corrected_interval_is_without_zero_exactly_if_holm_shows_the_difference() {
        let of = |shift: f64, spread: f64| {
            let pairs = [-1.0, 0.5, 1.5, -1.0].map(|x| (shift + spread * x, 0.0));
            PairedDifference::of(&pairs)
        };
        let rows = [
            of(1.0, 0.05),
            None,
            of(-1.0, 0.3),
            of(0.2, 0.1),
            of(0.01, 0.1),
        ];
        let found = corrected(&rows);
        assert_eq!(found[1], None);
        let all = || found.iter().flatten();
        for row in all() {
            assert_eq!(row.is_shown(), row.p_holm.unwrap() < 0.05, "{row:?}");
            // No interval is narrower than that of the difference alone.
            assert!(row.low_holm <= row.difference.low && row.difference.high <= row.high_holm);
        }
        // The third is shown alone, and not among four.
        let shown: Vec<bool> = all().map(CorrectedDifference::is_shown).collect();
        assert_eq!(shown, [true, true, false, false]);
        assert!(corrected(&rows[3..4])[0].unwrap().is_shown());
        let one = corrected(&rows[..1])[0].unwrap();
        close(one.low_holm, one.difference.low);
        // In the family of all, the third is not shown alone either, and the first is no surer than with all.
        assert!(!corrected_in(&rows[3..4], 4)[0].unwrap().is_shown());
        let of_four = corrected_in(&rows[..1], 4)[0].unwrap();
        assert_eq!(Some(of_four), found[0]);
        close(of_four.p_holm.unwrap(), 4.0 * of_four.difference.p.unwrap());
        assert_eq!(corrected_in(&rows, 4), found);
    }
}
