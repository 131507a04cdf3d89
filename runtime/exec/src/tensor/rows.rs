//! Takes rows of a tensor on its device.

use burn::tensor::{DispatchTensor, Shape, Slice};
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use fedround_ir::tensor::DType;

use super::dtype;

/// Gathers rows of `all`, a tensor of floats or integers. `rows` has the indices of the rows. The result is
/// reshaped to `shape`.
pub fn take_rows(all: DispatchTensor, rows: DispatchTensor, shape: &[usize]) -> DispatchTensor {
    let shape = Shape::from(shape.to_vec());
    match dtype(&all) {
        DType::I32 => Dispatch::int_reshape(Dispatch::int_select(all, 0, rows), shape),
        _ => Dispatch::float_reshape(Dispatch::float_select(all, 0, rows), shape),
    }
}

/// The elements `from..to` of a vector of integers.
pub fn take_ints(all: DispatchTensor, from: usize, to: usize) -> DispatchTensor {
    Dispatch::int_slice(all, &[Slice::new(from as isize, Some(to as isize), 1)])
}
