//! Matrix products for small batches, without packing.
//!
//! The three products of a dense layer have one short side, the batch, and read or write one large matrix, the
//! weight. Each of them goes through the weight once, in the order of its rows. `x: [batch, in]`, `w: [in, out]`,
//! `g: [batch, out]`:
//!
//! - `x · w` adds up rows of `w`, each times a value of `x` ([`Product`](crate::product::Product)).
//! - `g · wᵀ` computes dot products of rows of `g` and rows of `w`
//!   ([`DotProduct`](crate::dot_product::DotProduct)). If the batch fills vectors well, `(w · gᵀ)ᵀ` is computed instead.
//! - `w + alpha * xᵀ · g` adds multiples of rows of `g` to every row of `w`, in one pass ([`matmul_update`]).

use burn_backend::{DType, TensorMetadata};
use burn_flex::FlexTensor;

use crate::buffers;
use crate::flex::{floats, writable};
use crate::matmul_parts::{TRANSPOSED_ROWS, multiply};
use crate::matrix::Operand;

/// The largest size of the short side. For larger products packing pays off, and burn-flex packs.
const MAX_ROWS: usize = 128;

/// The largest number of values of a plain `b` in products of few rows. A larger one does not fit in the second-level
/// cache, and packing it, as burn-flex does, is faster.
const MAX_UNPACKED: usize = 1 << 20;

/// The smallest number of terms for which `a · bᵀ` with `m` rows is faster here than in burn-flex, by measurement.
const fn min_terms(m: usize) -> usize {
    match m {
        0..=32 => 64,
        33..=64 => 128,
        _ => 256,
    }
}

/// The product `a · b`, or `None` if the caller should use burn-flex's own product, because that is as fast or
/// because these operands are not supported here.
///
/// The order of the additions in a row of the result depends on the number of rows only if `b` is transposed.
///
/// # Shapes
/// `a: [.., m, k]`, `b: [.., k, n]`; the result is `[.., m, n]`. The leading dimensions are those of separate
/// products. Both operands have the same number of them, and a dimension of size 1 is repeated. In each product one
/// operand, but not both, may be a transposed view of a matrix with contiguous rows. Rows may be parts of longer
/// rows.
///
/// The result is `None` for other layouts, types and shapes; if the short side (`k` for a transposed `a`, else `m`) is
/// above 128; for fewer than 20 rows and a `b` of more than 2^20 values; and for a transposed `b` with few terms (`k`
/// below 64, 128 or 256 for `m` up to 32, 64 or 128).
pub fn matmul(a: &FlexTensor, b: &FlexTensor) -> Option<FlexTensor> {
    let (shape, sizes) = batch_sizes(a, b)?;
    let (batch, [m, _, n]) = (&shape[..shape.len() - 2], sizes);
    if !supported(sizes, Operand::at(a, 0)?, Operand::at(b, 0)?) {
        return None;
    }
    let mut c = buffers::arbitrary(shape.iter().product());
    for (i, c) in c.chunks_exact_mut(m * n).enumerate() {
        let (a, b) = (
            Operand::at(a, batch_offset(a, batch, i)?)?,
            Operand::at(b, batch_offset(b, batch, i)?)?,
        );
        multiply(sizes, a, b, c, None);
    }
    Some(floats(c, &shape))
}

/// Whether the product is faster here than in burn-flex.
fn supported([m, k, n]: [usize; 3], a: Operand<'_>, b: Operand<'_>) -> bool {
    match (a, b) {
        (Operand::Plain(_), Operand::Plain(_)) => {
            m <= MAX_ROWS && (m >= 20 || k * n <= MAX_UNPACKED)
        }
        (Operand::Plain(_), Operand::Transposed(_)) => m <= MAX_ROWS && k >= min_terms(m),
        (Operand::Transposed(_), Operand::Plain(_)) => k <= MAX_ROWS,
        (Operand::Transposed(_), Operand::Transposed(_)) => false,
    }
}

/// `y + alpha * a · b` in one pass over `y`, and in place if `y` is not shared. The optimizer's step for a
/// dense layer is `matmul_update(w, -lr, &x.transpose(0, 1), &grad)`.
///
/// It is meant for products of at most 128 terms (`k`). With more terms, `y` is updated once for every 128 of them.
/// Up to 128 terms, the result equals, bit for bit, that of a product followed by a sum, if [`matmul`] supports the
/// product and `b` is not transposed. Operands may have any layout; those that [`matmul`] does not support are copied.
///
/// # Shapes
/// `a: [m, k]`, `b: [k, n]`, `y: [m, n]`, which the result has too. All `f32`.
///
/// # Panics
/// If the shapes do not fit, or a tensor is not `f32`.
pub fn matmul_update(y: FlexTensor, alpha: f32, a: &FlexTensor, b: &FlexTensor) -> FlexTensor {
    let product = ScaledProduct::new(alpha, a, b);
    let (shape, [m, n]) = (y.shape(), product.shape());
    assert!(
        shape[..] == [m, n] && y.dtype() == DType::F32,
        "matmul_update: expected [m, n] + [m, k] · [k, n] of f32, found {shape:?} of {:?} and a \
         product of {:?}",
        y.dtype(),
        [m, n],
    );
    let mut result = writable(y);
    if let Some(c) = result.try_storage_mut::<f32>() {
        product.add_to(0, &mut c[..m * n]);
        return result;
    }
    let mut c = Vec::with_capacity(m * n);
    // Rows are copied in chunks, so that they are still in the cache when they are updated.
    for rows in result.storage::<f32>()[..m * n].chunks((TRANSPOSED_ROWS * n).max(1)) {
        let first = c.len();
        c.extend_from_slice(rows);
        product.add_to(first / n, &mut c[first..]);
    }
    floats(c, &[m, n])
}

/// A product `alpha * a · b` that is not computed yet. It is added to another matrix, some rows at a time.
pub struct ScaledProduct {
    alpha: f32,
    a: FlexTensor,
    b: FlexTensor,
    /// `[m, k, n]`.
    sizes: [usize; 3],
}

impl ScaledProduct {
    /// A product of these operands. Operands of layouts that [`matmul`] does not support are copied.
    ///
    /// # Shapes
    /// `a: [m, k]`, `b: [k, n]`. All `f32`.
    ///
    /// # Panics
    /// If the shapes do not fit, or a tensor is not `f32`.
    pub fn new(alpha: f32, a: &FlexTensor, b: &FlexTensor) -> Self {
        let (left, right) = (a.shape(), b.shape());
        let sizes = match (&left[..], &right[..]) {
            (&[m, k], &[terms, n]) if k == terms => [m, k, n],
            _ => [0; 3],
        };
        assert!(
            left[..] == sizes[..2]
                && right[..] == sizes[1..]
                && a.dtype() == DType::F32
                && b.dtype() == DType::F32,
            "product: expected [m, k] · [k, n] of f32, found {left:?} · {right:?} of {:?} and {:?}",
            a.dtype(),
            b.dtype(),
        );
        let (mut a, mut b) = (a.clone(), b.clone());
        if Operand::of(&b).is_none() {
            b = b.to_contiguous();
        }
        if matches!(
            (Operand::of(&a), Operand::of(&b)),
            (None, _) | (Some(Operand::Transposed(_)), Some(Operand::Transposed(_)))
        ) {
            a = a.to_contiguous();
        }
        Self { alpha, a, b, sizes }
    }

    /// The shape of the product, `[m, n]`.
    pub fn shape(&self) -> [usize; 2] {
        [self.sizes[0], self.sizes[2]]
    }

    /// Computes the rows of the product from row `first` on, as many as `rows` has, and adds them to `rows`.
    pub(crate) fn add_to(&self, first: usize, rows: &mut [f32]) {
        // An empty matrix is not an operand. There is nothing to add then.
        if let (Some(a), Some(b)) = (Operand::of(&self.a), Operand::of(&self.b)) {
            let [_, k, n] = self.sizes;
            let sizes = [rows.len() / n, k, n];
            multiply(sizes, a.rows_from(first), b, rows, Some(self.alpha));
        }
    }
}

/// The shape of the result with its leading dimensions, and `[m, k, n]`.
fn batch_sizes(a: &FlexTensor, b: &FlexTensor) -> Option<(Vec<usize>, [usize; 3])> {
    let (a, b) = (a.shape(), b.shape());
    let (&[ref left @ .., m, k], &[ref right @ .., terms, n]) = (&a[..], &b[..]) else {
        return None;
    };
    if k != terms || left.len() != right.len() {
        return None;
    }
    let dims = left
        .iter()
        .zip(right)
        .map(|(left, right)| match (left, right) {
            (1, dim) | (dim, 1) => Some(*dim),
            (left, right) => (left == right).then_some(*left),
        });
    let mut shape = dims.collect::<Option<Vec<usize>>>()?;
    shape.extend([m, n]);
    Some((shape, [m, k, n]))
}

/// The offset of the matrix of product `i` from the matrix of the first product.
fn batch_offset(tensor: &FlexTensor, batch: &[usize], i: usize) -> Option<usize> {
    let layout = tensor.layout();
    let dims = batch.iter().zip(&layout.shape()[..]).zip(layout.strides());
    let (mut i, mut offset) = (i, 0isize);
    for ((dim, tensor_dim), stride) in dims.rev() {
        // A dimension of size 1 is repeated.
        if *tensor_dim > 1 {
            offset += (i % dim) as isize * stride;
        }
        i /= dim;
    }
    offset.try_into().ok()
}
