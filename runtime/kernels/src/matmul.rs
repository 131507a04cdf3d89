//! Matrix products for small batches.

use burn_backend::TensorMetadata;
use burn_flex::FlexTensor;

use crate::flex::floats;
use crate::lower::round_up;
use crate::matrix::{Matrix, Operand};
use crate::product::{Factors, Product};
use crate::row_dots::DotProduct;
use crate::scratch::{self, Scratch, room};

/// The product `a · b`, or `None` where burn-flex's own is as fast or the layout is not handled.
///
/// # Shapes
/// `a: [m, k]`, `b: [k, n]`, both `f32`; the result is `[m, n]`.
pub fn matmul(a: &FlexTensor, b: &FlexTensor) -> Option<FlexTensor> {
    let sizes = sizes(a, b)?;
    let (a, b) = (Operand::of(a)?, Operand::of(b)?);
    let [m, _, n] = sizes;
    let mut c = vec![0.0; m * n];
    run(sizes, a, b, &mut c, 1.0, false)?;
    Some(floats(c, &[m, n]))
}

/// `y + alpha * a · b`.
pub fn matmul_update(y: FlexTensor, alpha: f32, a: &FlexTensor, b: &FlexTensor) -> FlexTensor {
    let sizes = sizes(a, b).unwrap_or([0; 3]);
    let mut result = y.to_contiguous();
    drop(y);
    let shape = result.shape();
    let (x, b) = (Operand::of(a), Operand::of(b));
    let (Some(a), Some(b)) = (x, b) else {
        return result;
    };
    if let Some(c) = result.try_storage_mut::<f32>() {
        let _ = run(sizes, a, b, c, alpha, true);
        return result;
    }
    let mut c = result.storage::<f32>().to_vec();
    let _ = run(sizes, a, b, &mut c, alpha, true);
    floats(c, &shape)
}

fn sizes(a: &FlexTensor, b: &FlexTensor) -> Option<[usize; 3]> {
    let (a, b) = (a.shape(), b.shape());
    match (&a[..], &b[..]) {
        (&[m, k], &[terms, n]) if k == terms => Some([m, k, n]),
        _ => None,
    }
}

fn run(
    sizes: [usize; 3],
    a: Operand<'_>,
    b: Operand<'_>,
    c: &mut [f32],
    alpha: f32,
    add: bool,
) -> Option<()> {
    let [m, k, n] = sizes;
    let (a, b) = match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) => {
            match std::env::var("NT").ok().as_deref() {
                Some("t") => scratch::with(|s| {
                    const BLOCK: usize = 256;
                    for j in (0..n).step_by(BLOCK) {
                        let count = BLOCK.min(n - j);
                        let t = room(&mut s.rows, count * k);
                        b.part(j, 0).transpose_into([count, k], t, count);
                        Product { a: Factors::Rows(a), b: Matrix { values: t, stride: count }, c: &mut c[j..], pitch: n,
                            sizes: [m, k, count], alpha, add }.run();
                    }
                }),
                Some("c") => scratch::with(|s| {
                    const BLOCK: usize = 128;
                    let Scratch { rows, block, .. } = s;
                    let mp = round_up(m);
                    let at = room(rows, k * mp);
                    a.transpose_into([m, k], at, mp);
                    for j in (0..n).step_by(BLOCK) {
                        let count = BLOCK.min(n - j);
                        let t = room(block, count * mp);
                        Product { a: Factors::Rows(b.part(j, 0)), b: Matrix { values: at, stride: mp }, c: t, pitch: mp,
                            sizes: [count, k, mp], alpha, add: false }.run();
                        Matrix { values: t, stride: mp }.transpose_into([count, m], &mut c[j..], n);
                    }
                }),
                _ => DotProduct { a, b, c, sizes, alpha, add }.run(),
            }
            return Some(());
        }
        (Operand::Plain(a), Operand::Plain(b)) => (Factors::Rows(a), b),
        (Operand::Transposed(a), Operand::Plain(b)) => (Factors::Columns(a), b),
        _ => return None,
    };
    Product { a, b, c, pitch: n, sizes, alpha, add }.run();
    Some(())
}
