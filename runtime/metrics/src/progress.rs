//! Summaries of a learning curve: its best point, its level at the end, and the round in which it reaches a
//! target.

/// A measurement during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The number of finished rounds.
    pub round: usize,
    /// Bytes sent so far in all directions, over all clients.
    pub bytes: u64,
    /// The measured value, such as an accuracy. Larger is better.
    pub value: f64,
}

/// The first point of `curve` whose value is at least `target`, or `None`. `curve` is in the order of rounds.
/// The point's `round` and `bytes` are the cost of reaching the target.
pub fn first_to_reach(curve: &[Point], target: f64) -> Option<Point> {
    curve.iter().copied().find(|point| point.value >= target)
}

/// The point with the largest value, or the first of equal ones. `None` if all values are NaN.
pub fn best(curve: &[Point]) -> Option<Point> {
    let larger = |best: Point, point: Point| {
        if point.value > best.value {
            point
        } else {
            best
        }
    };
    let numbers = curve.iter().copied().filter(|point| !point.value.is_nan());
    numbers.reduce(larger)
}

/// The mean over the last `n` points, or over all if there are fewer: where a curve goes up and down from
/// one evaluation to the next, its best point is partly luck. `None` without points, NaN if one of them is.
pub fn mean_of_last(curve: &[Point], n: usize) -> Option<f64> {
    let last = &curve[curve.len().saturating_sub(n)..];
    let sum: f64 = last.iter().map(|point| point.value).sum();
    (!last.is_empty()).then(|| sum / last.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Vec<Point> {
        let point = |(i, &value)| Point {
            round: i + 1,
            bytes: 100 * (i as u64 + 1),
            value,
        };
        values.iter().enumerate().map(point).collect()
    }

    #[test]
    fn the_first_round_counts_even_if_a_later_one_falls_back() {
        let curve = curve(&[0.1, f64::NAN, 0.8, 0.7, 0.9, 0.9]);
        let reached = first_to_reach(&curve, 0.75).unwrap();
        assert_eq!((reached.round, reached.bytes), (3, 300));
        assert_eq!(first_to_reach(&curve, 0.8), Some(reached));
        assert_eq!(first_to_reach(&curve, 0.95), None);
        assert_eq!(best(&curve).map(|p| p.round), Some(5));
        assert_eq!(best(&curve[1..2]), None);
    }
    #[test]
    fn the_level_at_the_end_is_a_mean_of_what_is_there() {
        let curve = curve(&[0.1, 0.6, 0.4, 0.8]);
        let near = |found: Option<f64>, x: f64| assert!((found.unwrap() - x).abs() < 1e-12);
        near(mean_of_last(&curve, 3), 0.6);
        near(mean_of_last(&curve, 1), 0.8);
        near(mean_of_last(&curve, 10), 1.9 / 4.0);
        assert_eq!(mean_of_last(&curve, 0), None);
        assert_eq!(mean_of_last(&[], 10), None);
    }
}
