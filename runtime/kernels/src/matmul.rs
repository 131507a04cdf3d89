//! Matrix products for small batches.

use burn_backend::TensorMetadata;
use burn_flex::FlexTensor;

use crate::flex::floats;
use crate::matrix::{Matrix, Operand};
use crate::product::{Factors, PACKED, Product};
use crate::row_dots::DotProduct;
use crate::scratch::{self, room};

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
    let factors = match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) => {
            let limit: usize = std::env::var("TRK").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
            if k <= limit {
                scratch::with(|s| {
                    let t = room(&mut s.rows, n * k);
                    for (j, row) in b.values.chunks(b.stride).take(n).enumerate() {
                        for (p, v) in row[..k].iter().enumerate() {
                            t[p * n + j] = *v;
                        }
                    }
                    Product { a: Factors::Rows(a), b: Matrix { values: t, stride: n }, c, sizes, alpha, add, packed: &mut [] }.run();
                });
                return Some(());
            }
            DotProduct { a, b, c, sizes, alpha, add }.run();
            return Some(());
        }
        (Operand::Plain(a), Operand::Plain(b)) => (Factors::Rows(a), b),
        (Operand::Transposed(a), Operand::Plain(b)) => (Factors::Columns(a), b),
        _ => return None,
    };
    let (a, b) = factors;
    let pack: usize = std::env::var("PACKM").ok().and_then(|v| v.parse().ok()).unwrap_or(10000);
    scratch::with(|s| {
        let packed = room(&mut s.panels, if m >= pack && m <= 200 { PACKED } else { 0 });
        Product { a, b, c, sizes, alpha, add, packed }.run();
    });
    Some(())
}
