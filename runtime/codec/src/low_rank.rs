//! Products of two thin matrices: `4r(m + c)` bytes for a tensor that is an `m × c` matrix, or `4mc` where
//! that is no more.
//!
//! From a random `c × r` matrix `Q`: twice `P = orthogonalise(M Q)`, `Q = Mᵀ P`. The receiver has `P Qᵀ`, the
//! projection of `M` on the columns of `P`. A matrix of rank `r` or less comes back but for rounding: a `Q`
//! that is nearly at right angles to the rows of `M` magnifies what `M` has rounded, and the second pass, which
//! starts from rows of `M`, does not.

use fedround_random::StreamKey;

use crate::{Leaf, floats, put};

/// Rows and columns of a tensor as a matrix, if its factors are shorter than it.
fn matrix(rank: usize, shape: &[usize]) -> Option<(usize, usize)> {
    let (rows, rest) = shape.split_first()?;
    let (m, c) = (*rows, rest.iter().product::<usize>());
    (!rest.is_empty() && rank.saturating_mul(m + c) < m * c).then_some((m, c))
}

pub(crate) fn bytes(rank: usize, shape: &[usize]) -> usize {
    match matrix(rank, shape) {
        Some((m, c)) => 4 * rank * (m + c),
        None => 4 * crate::size(shape),
    }
}

pub(crate) fn encode(rank: usize, leaf: Leaf<'_>, key: StreamKey, to: &mut Vec<u8>) {
    let Some((m, c)) = matrix(rank, leaf.shape) else {
        return put(leaf.values.iter().copied(), to);
    };
    let at = |i: usize, j: usize| f64::from(leaf.values[i * c + j]);
    let mut stream = key.stream();
    // Matrices as lists of columns.
    let start: Vec<Vec<f64>> = (0..rank)
        .map(|_| (0..c).map(|_| stream.normal()).collect())
        .collect();
    let columns = |q: &[Vec<f64>]| {
        let mut p = times(m, at, q);
        orthogonalise(&mut p);
        p
    };
    let rows = |p: &[Vec<f64>]| times(c, |j, i| at(i, j), p);
    let mut p = columns(&rows(&columns(&start)));
    // As the receiver has it, so that the second matrix fits.
    for x in p.iter_mut().flatten() {
        *x = f64::from(*x as f32);
    }
    let q = rows(&p);
    let all = p.into_iter().chain(q).flatten();
    put(all.map(|x| x as f32), to);
}

pub(crate) fn decode(rank: usize, shape: &[usize], bytes: &[u8]) -> Vec<f32> {
    let all: Vec<f32> = floats(bytes).collect();
    let Some((m, c)) = matrix(rank, shape) else {
        return all;
    };
    let (p, q) = all.split_at((rank * m).min(all.len()));
    let entry = |at: usize| {
        let (i, j) = (at / c, at % c);
        let pairs = p.chunks_exact(m).zip(q.chunks_exact(c));
        pairs
            .map(|(p, q)| f64::from(p[i]) * f64::from(q[j]))
            .sum::<f64>() as f32
    };
    (0..m * c).map(entry).collect()
}

/// A matrix of this many rows, times each column.
fn times(rows: usize, at: impl Fn(usize, usize) -> f64, columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |i: usize, column: &[f64]| (0..).zip(column).map(|(j, x)| at(i, j) * x).sum();
    columns
        .iter()
        .map(|column| (0..rows).map(|i| row(i, column)).collect())
        .collect()
}

/// Gram and Schmidt's method. A column that depends on those before it becomes zero.
fn orthogonalise(columns: &mut [Vec<f64>]) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    for i in 0..columns.len() {
        let (before, rest) = columns.split_at_mut(i);
        let Some(column) = rest.first_mut() else {
            return;
        };
        let whole = dot(column, column).sqrt();
        // Twice, because the first pass leaves what it rounded.
        for _ in 0..2 {
            for other in &*before {
                let along = dot(column, other);
                column
                    .iter_mut()
                    .zip(other)
                    .for_each(|(x, y)| *x -= along * y);
            }
        }
        let norm = dot(column, column).sqrt();
        // Not a number stays so: the receiver is to see it.
        let factor = match norm <= 1e-7 * whole {
            true => 0.0,
            false => 1.0 / norm,
        };
        column.iter_mut().for_each(|x| *x *= factor);
    }
}
