//! Squared distances and cosines of all pairs of clients' values.

use std::borrow::Cow;

use fedround_ir::fed::Pairwise;
use rayon::prelude::*;

/// The leaves of a client's value, in host memory.
pub(crate) type Leaves<'v> = Vec<Cow<'v, [f32]>>;

/// The number of partial sums that the processor adds in parallel.
const LANES: usize = 8;

/// A number for each pair of `m` clients, as a matrix `[m, m]` in row-major order. All leaves count, including
/// buffers, unlike in `tree.sq_norm`. Sums are in `f64`.
pub(crate) fn pairwise(of: Pairwise, clients: &[Leaves<'_>]) -> Vec<f32> {
    let norms: Vec<f64> = clients.par_iter().map(|x| sum(x, x, product)).collect();
    let pair = |i: usize, j: usize| match of {
        Pairwise::SqDistances => sum(&clients[i], &clients[j], |a, b| (a - b) * (a - b)),
        Pairwise::Cosines => {
            let scale = (norms[i] * norms[j]).sqrt();
            match scale == 0.0 {
                true => 0.0,
                false => sum(&clients[i], &clients[j], product) / scale,
            }
        }
    };
    let m = clients.len();
    let above: Vec<Vec<f64>> = (0..m)
        .into_par_iter()
        .map(|i| (i..m).map(|j| pair(i, j)).collect())
        .collect();
    let all = (0..m).flat_map(|i| (0..m).map(move |j| (i.min(j), i.max(j))));
    all.map(|(i, j)| above[i][j - i] as f32).collect()
}

fn product(a: f64, b: f64) -> f64 {
    a * b
}

/// The sum of a function of two values' entries.
fn sum(a: &Leaves<'_>, b: &Leaves<'_>, f: impl Fn(f64, f64) -> f64) -> f64 {
    let f = |(a, b): (&f32, &f32)| f(f64::from(*a), f64::from(*b));
    let leaves = a.iter().zip(b).map(|(a, b)| {
        let mut lanes = [0.0; LANES];
        let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        let rest = a.remainder().iter().zip(b.remainder());
        let rest: f64 = rest.map(f).sum();
        for (a, b) in a.zip(b) {
            for (lane, pair) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane += f(pair);
            }
        }
        lanes.iter().sum::<f64>() + rest
    });
    leaves.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(values: &[&'static [f32]]) -> Vec<Leaves<'static>> {
        // Two leaves: the first entry, and the others.
        let leaves = values.iter().map(|v| v.split_at(1));
        leaves
            .map(|(a, b)| vec![Cow::Borrowed(a), Cow::Borrowed(b)])
            .collect()
    }

    #[test]
    fn by_hand() {
        let of = clients(&[&[3.0, 4.0], &[0.0, 0.0], &[4.0, -3.0]]);
        let distances = pairwise(Pairwise::SqDistances, &of);
        let expected = [0.0, 25.0, 50.0, 25.0, 0.0, 25.0, 50.0, 25.0, 0.0];
        assert_eq!(distances, expected);
        let cosines = pairwise(Pairwise::Cosines, &of);
        assert_eq!(cosines, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn lanes_and_the_rest_are_added_up() {
        let of = clients(&[&[1.0; 30], &[-1.0; 30]]);
        assert_eq!(
            pairwise(Pairwise::SqDistances, &of),
            [0.0, 120.0, 120.0, 0.0]
        );
        assert_eq!(pairwise(Pairwise::Cosines, &of), [1.0, -1.0, -1.0, 1.0]);
    }
}
