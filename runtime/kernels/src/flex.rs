//! Conversions between Flex tensors and slices.

use burn_backend::{Bytes, DType, Shape, TensorMetadata};
use burn_flex::{FlexTensor, Layout};

/// The tensor's shape as four numbers.
pub(crate) fn shape4(tensor: &FlexTensor, what: &str) -> [usize; 4] {
    let shape = tensor.shape();
    let dims: &[usize] = &shape;
    assert!(
        dims.len() == 4,
        "{what}: expected four dimensions, found {dims:?}"
    );
    [dims[0], dims[1], dims[2], dims[3]]
}

/// A contiguous tensor of `data`.
pub(crate) fn floats(data: Vec<f32>, shape: &[usize]) -> FlexTensor {
    let layout = Layout::contiguous(Shape::from(shape.to_vec()));
    FlexTensor::new(Bytes::from_elems(data), layout, DType::F32)
}

/// A contiguous tensor of `data`.
pub(crate) fn ints(data: Vec<i32>, shape: &[usize]) -> FlexTensor {
    let layout = Layout::contiguous(Shape::from(shape.to_vec()));
    FlexTensor::new(Bytes::from_elems(data), layout, DType::I32)
}

/// The tensor with contiguous elements, in its own buffer if nobody else holds that.
pub(crate) fn writable(tensor: FlexTensor) -> FlexTensor {
    // A view gets a buffer of its own here. A contiguous tensor gets a second handle to its buffer, so the
    // first handle is dropped.
    let result = tensor.to_contiguous();
    drop(tensor);
    result
}

/// Asserts that two tensors have one shape.
pub(crate) fn same_shape(what: &str, a: &FlexTensor, b: &FlexTensor) {
    let (a, b) = (a.shape(), b.shape());
    assert!(a == b, "{what}: expected one shape, found {a:?} and {b:?}");
}
