//! Compares a replay with a plain run of the same step.

/// Describes the first replayed tensor that differs from the expected one; `None` if all agree. `found` and
/// `expected` are the state and the losses after the step, and `before` is the state before it.
///
/// Values agree if they are equal within a thousandth of the largest change that the step made, plus
/// rounding of the largest value. A replay that does nothing therefore differs. Only finite values count
/// for this tolerance, because an infinite one would accept everything; infinities agree if they are equal.
pub(super) fn find_difference(
    found: &[Vec<f32>],
    expected: &[Vec<f32>],
    before: &[Vec<f32>],
) -> Option<String> {
    let largest = |values: &mut dyn Iterator<Item = f32>| {
        values.filter(|x| x.is_finite()).fold(0.0, f32::max)
    };
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let size = largest(&mut expected.iter().map(|x| x.abs()));
        let change = match before.get(i) {
            Some(before) => largest(&mut expected.iter().zip(before).map(|(x, y)| (x - y).abs())),
            None => size,
        };
        let tolerance = 1e-3 * change + 1e-6 * size;
        // The difference to an infinity is never within the tolerance, which is finite.
        let close = |x: f32, y: f32| (x - y).abs() <= tolerance || x.to_bits() == y.to_bits();
        let same = found.len() == expected.len()
            && !found.is_empty()
            && found
                .iter()
                .zip(expected)
                .all(|(&x, &y)| close(x, y) || (x.is_nan() && y.is_nan()));
        if !same {
            let what = if i < before.len() { "state" } else { "loss" };
            return Some(format!("a replay's {what} is not that of a plain run"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_that_does_nothing_differs() {
        let before = [vec![1.0, 2.0]];
        let expected = [vec![1.0, 2.00001], vec![0.5]];
        assert_eq!(find_difference(&expected, &expected, &before), None);
        let frozen = [before[0].clone(), vec![0.5]];
        assert!(
            find_difference(&frozen, &expected, &before)
                .unwrap()
                .contains("state")
        );
        let stale = [expected[0].clone(), vec![0.7]];
        assert!(
            find_difference(&stale, &expected, &before)
                .unwrap()
                .contains("loss")
        );
        let unread = [vec![], vec![0.5]];
        assert!(find_difference(&unread, &expected, &before).is_some());
    }

    #[test]
    fn two_nans_are_equal() {
        let nan = [vec![f32::NAN], vec![f32::INFINITY]];
        assert_eq!(find_difference(&nan, &nan, &[vec![1.0]]), None);
        assert!(find_difference(&[vec![0.0], vec![1.0]], &nan, &[vec![1.0]]).is_some());
    }

    #[test]
    fn an_infinity_accepts_no_other_value() {
        let before = [vec![1.0, 2.0]];
        let expected = [vec![f32::INFINITY, 3.0], vec![f32::INFINITY]];
        assert_eq!(find_difference(&expected, &expected, &before), None);
        let frozen = [before[0].clone(), vec![0.7]];
        assert!(find_difference(&frozen, &expected, &before).is_some());
        // The finite values beside an infinity are compared, too.
        let stale = [vec![f32::INFINITY, 2.0], vec![f32::INFINITY]];
        assert!(find_difference(&stale, &expected, &before).is_some());
        let other_sign = [vec![f32::INFINITY, 3.0], vec![f32::NEG_INFINITY]];
        assert!(find_difference(&other_sign, &expected, &before).is_some());
    }
}
