//! Computes one matrix product in parts, which the threads of a [team](crate::team) share.
//!
//! Threads share the rows of `C`, and each reads all of `b`. If `b` is too large for the second-level caches, they
//! share the columns of `C` instead, and each reads a part of `b`.

use std::sync::Mutex;

use crate::dot_product::DotProduct;
use crate::im2col::round_up;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::team;

/// The largest number of values of a `b` that every thread reads as a whole. It fits in the second-level cache of
/// each core.
const MAX_SHARED: usize = 1 << 17;

/// The number of rows of the large matrix whose products are transposed at a time, while they are in the cache.
pub(crate) const TRANSPOSED_ROWS: usize = 128;

/// How a part of a product is computed.
#[derive(Clone, Copy)]
struct Mode {
    /// The factor with which the product is added to `c`; `None` to overwrite `c`.
    alpha: Option<f32>,
    /// Whether `a · bᵀ` is computed as `(b · aᵀ)ᵀ`.
    by_transpose: bool,
}

/// Writes `a · b` to `c: [m][n]`, or adds it times `alpha`. `sizes` is `[m, k, n]`. The operands must not both be
/// transposed.
pub(crate) fn multiply(
    sizes: [usize; 3],
    a: Operand<'_>,
    b: Operand<'_>,
    c: &mut [f32],
    alpha: Option<f32>,
) {
    let [m, k, n] = sizes;
    let mode = Mode {
        alpha,
        by_transpose: alpha.is_none() && is_faster_by_transpose(sizes),
    };
    let flops = 2 * m * k * n;
    if let Operand::Plain(a) = a
        && alpha.is_none()
        && team::size(flops) > 1
        && k * n > MAX_SHARED
    {
        return multiply_by_columns(sizes, a, b, c, mode);
    }
    let mut rows = m.div_ceil(team::size(flops));
    if mode.by_transpose {
        rows = round_up(rows);
    }
    let parts = c.chunks_mut(rows * n).enumerate();
    team::each(flops, parts, |(i, c)| {
        let (sizes, a) = ([c.len() / n, k, n], a.rows_from(i * rows));
        multiply_part(sizes, a, b, c, mode);
    });
}

/// [`multiply`] where the threads share the columns of `c`, so that each reads only a part of `b`. The columns of `c`
/// are not one slice, so a thread computes them in a buffer and copies them.
fn multiply_by_columns(
    [m, k, n]: [usize; 3],
    a: Matrix<'_>,
    b: Operand<'_>,
    c: &mut [f32],
    mode: Mode,
) {
    let flops = 2 * m * k * n;
    let part_columns = n.div_ceil(2 * team::size(flops));
    let part_columns = part_columns.next_multiple_of(TRANSPOSED_ROWS);
    let parts = (0..n).step_by(part_columns);
    let c = Mutex::new(c);
    team::each(flops, parts, |first| {
        let count = part_columns.min(n - first);
        let b = match b {
            Operand::Plain(b) => Operand::Plain(b.part(0, first)),
            Operand::Transposed(b) => Operand::Transposed(b.part(first, 0)),
        };
        scratch::lend(
            |scratch| &mut scratch.grad,
            |part| {
                let part = room(part, m * count);
                multiply_part([m, k, count], Operand::Plain(a), b, part, mode);
                let mut c = c.lock().unwrap_or_else(|e| e.into_inner());
                for (c, part) in c.chunks_exact_mut(n).zip(part.chunks_exact(count)) {
                    c[first..first + count].copy_from_slice(part);
                }
            },
        );
    });
}

/// [`multiply`] on this thread.
fn multiply_part(sizes: [usize; 3], a: Operand<'_>, b: Operand<'_>, c: &mut [f32], mode: Mode) {
    match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) if mode.by_transpose => {
            multiply_by_transpose(sizes, a, b, c);
        }
        _ => multiply_directly(sizes, a, b, c, mode.alpha),
    }
}

/// [`multiply`] on this thread, without the detour by a transpose.
fn multiply_directly(
    sizes: [usize; 3],
    a: Operand<'_>,
    b: Operand<'_>,
    c: &mut [f32],
    alpha: Option<f32>,
) {
    let b = match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) => {
            let dots = DotProduct {
                a,
                b,
                c,
                sizes,
                alpha,
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
    }
    .run();
}

/// Whether `a · bᵀ` is faster as `(b · aᵀ)ᵀ` than by dot products, by measurement. The detour pads the batch `m` to
/// whole vectors, but saves the addition of the lanes at the end of each dot product.
fn is_faster_by_transpose([m, k, _]: [usize; 3]) -> bool {
    round_up(m) * k * 32 < m * (27 * k + 2000)
}

/// Writes `a · bᵀ` to `c` as `(b · aᵀ)ᵀ`. [`TRANSPOSED_ROWS`] rows of `b · aᵀ` are computed at a time, and transposed
/// while they are in the cache.
fn multiply_by_transpose([m, k, n]: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32]) {
    scratch::with(|scratch| {
        let Scratch { rows, block, .. } = scratch;
        let pitch = round_up(m);
        // `aᵀ`, `[k][pitch]`. The values past column `m` are left over from an earlier use. They only enter columns of
        // the product that are not read.
        let columns = room(rows, k * pitch);
        a.transpose_into([m, k], columns, pitch);
        for first in (0..n).step_by(TRANSPOSED_ROWS) {
            let count = TRANSPOSED_ROWS.min(n - first);
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
                alpha: None,
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
