//! Medians and trimmed means of clients' values, entry by entry. They need the values of all clients at
//! once.

use rayon::prelude::*;

/// The number of entries in one parallel task.
const BLOCK: usize = 4 * 1024;

/// How many of `m` values a trimmed mean with share `beta` leaves out at each end; `None` unless `0 ≤ beta < ½`.
pub(crate) fn cut(beta: f64, m: usize) -> Option<usize> {
    // Corrects rounding errors: 0.29 · 100 is less than 29 in floating point.
    let cut = (beta * m as f64 + 1e-9).floor() as usize;
    ((0.0..0.5).contains(&beta) && 2 * cut < m).then_some(cut)
}

/// How many of `m` values a median leaves out at each end: all but the middle one, or the two middle ones.
pub(crate) fn all_but_the_median(m: usize) -> usize {
    m.saturating_sub(1) / 2
}

/// The mean of each entry over the clients, without its `cut` smallest and `cut` largest values. It is NaN where a
/// client's value is not finite, so that such a client is noticed as in a plain mean. All clients have equally many
/// entries, and there are more than `2 cut` clients.
pub(crate) fn trimmed_mean(clients: &[&[f32]], cut: usize) -> Vec<f32> {
    let entries = clients.iter().map(|values| values.len()).min();
    let mut means = vec![0.0; entries.unwrap_or_default()];
    let blocks = means.par_chunks_mut(BLOCK).enumerate();
    blocks.for_each(|(block, means)| {
        let mut values = Vec::with_capacity(clients.len());
        for (i, mean) in means.iter_mut().enumerate() {
            values.clear();
            values.extend(clients.iter().map(|client| client[block * BLOCK + i]));
            *mean = entry_mean(&mut values, cut);
        }
    });
    means
}

/// The trimmed mean of one entry's values.
fn entry_mean(values: &mut [f32], cut: usize) -> f32 {
    if !values.iter().all(|x| x.is_finite()) {
        return f32::NAN;
    }
    // Without a cut, the values are added in the order of the cohort, as in a plain mean.
    if cut > 0 {
        values.sort_unstable_by(f32::total_cmp);
    }
    let middle = values.get(cut..values.len() - cut).unwrap_or_default();
    let sum: f64 = middle.iter().copied().map(f64::from).sum();
    (1.0 / middle.len() as f64 * sum) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let clients: [&[f32]; 4] = [&[1.0, -1.0], &[9.0, 2.0], &[2.0, 0.5], &[4.0, 1.0]];
        assert_eq!(trimmed_mean(&clients, 0), [4.0, 0.625]);
        assert_eq!(trimmed_mean(&clients, 1), [3.0, 0.75]);
        assert_eq!(trimmed_mean(&clients[..3], 1), [2.0, 0.5]);
        assert_eq!([1, 2, 3, 4, 5].map(all_but_the_median), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn blocks_join() {
        let value = |k: usize| (0..3 * BLOCK + 1).map(move |i| (i * k) as f32);
        let clients = [1, 2, 6].map(|k| value(k).collect::<Vec<f32>>());
        let clients: Vec<&[f32]> = clients.iter().map(Vec::as_slice).collect();
        assert_eq!(trimmed_mean(&clients, 1), clients[1]);
    }

    #[test]
    fn what_is_not_finite_shows() {
        let clients: [&[f32]; 3] = [&[1.0, f32::NAN], &[f32::INFINITY, 2.0], &[2.0, 0.5]];
        assert!(trimmed_mean(&clients, 1).iter().all(|x| x.is_nan()));
    }

    #[test]
    fn shares_are_cut_as_they_are_written() {
        assert_eq!(cut(0.29, 100), Some(29));
        assert_eq!(cut(0.1, 9), Some(0));
        assert_eq!(cut(0.49, 2), Some(0));
        for outside in [-0.1, 0.5, f64::NAN] {
            assert_eq!(cut(outside, 10), None);
        }
    }
}
