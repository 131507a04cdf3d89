//! Conversions between Flex tensors and slices.

use burn_backend::{Bytes, DType, Shape, TensorMetadata};
use burn_flex::{FlexTensor, Layout};

/// The tensor's shape as four numbers. `what` names the tensor in the message of a panic.
pub(crate) fn shape4(tensor: &FlexTensor, what: &str) -> [usize; 4] {
    let shape = tensor.shape();
    let dims: &[usize] = &shape;
    assert!(
        dims.len() == 4,
        "{what}: expected four dimensions, found {dims:?}"
    );
    [dims[0], dims[1], dims[2], dims[3]]
}

/// A contiguous tensor of `f32` with these values.
pub(crate) fn floats(data: Vec<f32>, shape: &[usize]) -> FlexTensor {
    let layout = Layout::contiguous(Shape::from(shape.to_vec()));
    FlexTensor::new(Bytes::from_elems(data), layout, DType::F32)
}

/// A contiguous tensor of `i32` with these values.
pub(crate) fn ints(data: Vec<i32>, shape: &[usize]) -> FlexTensor {
    let layout = Layout::contiguous(Shape::from(shape.to_vec()));
    FlexTensor::new(Bytes::from_elems(data), layout, DType::I32)
}

/// The tensor with contiguous elements, ready to be written in place if nobody else holds its buffer.
pub(crate) fn writable(tensor: FlexTensor) -> FlexTensor {
    // For a view, this allocates a buffer. For a contiguous tensor, it makes a second handle to the same buffer. The
    // first handle is dropped, so that the second may be the only one.
    let result = tensor.to_contiguous();
    drop(tensor);
    result
}

/// Asserts that two tensors have the same shape.
pub(crate) fn same_shape(what: &str, a: &FlexTensor, b: &FlexTensor) {
    let (a, b) = (a.shape(), b.shape());
    assert!(a == b, "{what}: expected one shape, found {a:?} and {b:?}");
}
