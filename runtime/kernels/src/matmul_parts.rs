//! One product of matrices, in parts for the threads that share it.

use std::sync::Mutex;

use crate::im2col::round_up;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::row_dots::DotProduct;
use crate::scratch::{self, Scratch, room};
use crate::team;

/// Values of the largest `b` that every thread reads as a whole. It fits in the second-level cache of each.
const SHARED: usize = 1 << 17;

/// Rows of the large matrix whose products are transposed at once.
pub(crate) const TURNED: usize = 128;

/// Writes the product to `c`, or adds it times `alpha`. Not for two transposed operands.
pub(crate) fn run(
    sizes: [usize; 3],
    a: Operand<'_>,
    b: Operand<'_>,
    c: &mut [f32],
    alpha: Option<f32>,
) {
    let [m, k, n] = sizes;
    let turn = alpha.is_none() && is_turned(sizes);
    let flops = 2 * m * k * n;
    if let Operand::Plain(a) = a
        && alpha.is_none()
        && team::size(flops) > 1
        && k * n > SHARED
    {
        return by_columns(sizes, a, b, c, turn);
    }
    let mut rows = m.div_ceil(team::size(flops));
    if turn {
        rows = round_up(rows);
    }
    let parts = c.chunks_mut(rows * n).enumerate();
    team::each(flops, parts, |(i, c)| {
        let (sizes, a) = ([c.len() / n, k, n], a.below(i * rows));
        run_or_turn(sizes, a, b, c, (alpha, turn));
    });
}

/// [`run`] where each thread computes some columns, so that it reads a part of `b` alone. Columns of `c` are not
/// one slice, so they are computed in a buffer, and copied.
fn by_columns([m, k, n]: [usize; 3], a: Matrix<'_>, b: Operand<'_>, c: &mut [f32], turn: bool) {
    let flops = 2 * m * k * n;
    let most = n.div_ceil(2 * team::size(flops)).next_multiple_of(TURNED);
    let parts = (0..n).step_by(most);
    let c = Mutex::new(c);
    team::each(flops, parts, |first| {
        let count = most.min(n - first);
        let b = match b {
            Operand::Plain(b) => Operand::Plain(b.part(0, first)),
            Operand::Transposed(b) => Operand::Transposed(b.part(first, 0)),
        };
        scratch::lend(
            |scratch| &mut scratch.grad,
            |part| {
                let part = room(part, m * count);
                run_or_turn([m, k, count], Operand::Plain(a), b, part, (None, turn));
                let mut c = c.lock().unwrap_or_else(|e| e.into_inner());
                for (c, part) in c.chunks_exact_mut(n).zip(part.chunks_exact(count)) {
                    c[first..first + count].copy_from_slice(part);
                }
            },
        );
    });
}

/// [`run`] on this thread, turned around or not.
fn run_or_turn(
    sizes: [usize; 3],
    a: Operand<'_>,
    b: Operand<'_>,
    c: &mut [f32],
    (alpha, turn): (Option<f32>, bool),
) {
    match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) if turn => turned(sizes, a, b, c),
        _ => run_part(sizes, a, b, c, alpha),
    }
}

/// The same without turning around.
fn run_part(sizes: [usize; 3], a: Operand<'_>, b: Operand<'_>, c: &mut [f32], alpha: Option<f32>) {
    let (add, alpha) = (alpha.is_some(), alpha.unwrap_or(1.0));
    let b = match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) => {
            let dots = DotProduct {
                a,
                b,
                c,
                sizes,
                alpha,
                add,
            };
            return dots.run();
        }
        (_, Operand::Plain(b) | Operand::Transposed(b)) => b,
    };
    Product {
        a,
        b,
        c,
        pitch: sizes[2],
        sizes,
        alpha,
        add,
    }
    .run();
}

/// Whether `(b · aᵀ)ᵀ` is faster than dot products, by measurement. The batch has to be filled up to whole
/// vectors, but no sum ends in an addition over the lanes of a vector.
fn is_turned([m, k, _]: [usize; 3]) -> bool {
    round_up(m) * k * 32 < m * (27 * k + 2000)
}

/// Writes `a · bᵀ` to `c` by way of `b · aᵀ`. Some rows at a time are transposed while they are in the cache.
fn turned([m, k, n]: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32]) {
    scratch::with(|scratch| {
        let Scratch { rows, block, .. } = scratch;
        let pitch = round_up(m);
        // The values past column `m` are left over from an earlier call. Their results are not used.
        let columns = room(rows, k * pitch);
        a.transpose_into([m, k], columns, pitch);
        for first in (0..n).step_by(TURNED) {
            let count = TURNED.min(n - first);
            let block = room(block, count * pitch);
            Product {
                a: Operand::Plain(b.part(first, 0)),
                b: Matrix {
                    values: columns,
                    stride: pitch,
                },
                c: block,
                pitch,
                sizes: [count, k, pitch],
                alpha: 1.0,
                add: false,
            }
            .run();
            let block = Matrix {
                values: block,
                stride: pitch,
            };
            block.transpose_into([count, m], &mut c[first..], n);
        }
    });
}
