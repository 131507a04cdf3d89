//! Columns of scores, moved or scaled by a number for each.

use burn::tensor::Tensor;

/// Adds the number `a_j` to column `j`, as in logit adjustment.
///
/// # Shapes
///
/// - `x`: `[batch, columns]`
/// - `a`: `[columns]`
/// - output: `[batch, columns]`
pub(super) fn shift_columns(x: Tensor<2>, a: Tensor<1>) -> Tensor<2> {
    let [_, columns] = x.dims();
    x + a.reshape([1, columns])
}

/// Multiplies column `j` by the number `a_j`, as in FedRS's restricted softmax. Shapes as in
/// [`shift_columns`].
pub(super) fn scale_columns(x: Tensor<2>, a: Tensor<1>) -> Tensor<2> {
    let [_, columns] = x.dims();
    x * a.reshape([1, columns])
}
