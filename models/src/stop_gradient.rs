//! Values that a loss treats as constants.

use burn::tensor::Tensor;

/// The tensor itself, as a constant: gradients do not pass.
///
/// Losses call this instead of burn's `detach`, which burn does not record when a loss is traced:
/// **behind a bare `detach` gradients would flow on**. A flip over no dimensions is the identity
/// and is recorded; the tracer reads it as `tensor.stop_gradient`.
///
/// # Shapes
///
/// - `tensor`: any
/// - output: the same
///
/// # Examples
///
/// A student learns from a teacher that does not learn from the student:
///
/// ```
/// use burn::tensor::Tensor;
/// use burn::tensor::activation::{log_softmax, softmax};
/// use fedround_models::stop_gradient;
///
/// fn distil(student: Tensor<2>, teacher: Tensor<2>) -> Tensor<1> {
///     let target = stop_gradient(softmax(teacher, 1));
///     (target * log_softmax(student, 1)).sum_dim(1).mean().neg()
/// }
/// ```
pub fn stop_gradient<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    const NONE: [usize; 0] = [];
    tensor.detach().flip(NONE)
}
