//! Writing of safetensors files.

use std::borrow::Cow;
use std::collections::HashMap;

use safetensors::tensor::{Dtype, TensorView, serialize};

use super::Layout;
use super::file::LAYOUT;

/// A tensor to write.
#[derive(Clone, Copy, Debug)]
pub struct NamedValues<'a> {
    /// The file's name of it.
    pub name: &'a str,
    /// The lengths of its axes.
    pub shape: &'a [usize],
    /// Its elements in row-major order.
    pub values: &'a [f32],
}

/// The bytes of a safetensors file of these tensors, which says in its metadata that their names and
/// the order of their values are of `layout`. The same tensors give the same bytes.
///
/// # Errors
///
/// A tensor has not as many values as its shape says.
pub fn to_safetensors(
    tensors: &[NamedValues<'_>],
    layout: Layout,
) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    let data: Vec<_> = tensors.iter().map(|t| little_endian(t.values)).collect();
    let views = tensors.iter().zip(&data).map(|(tensor, bytes)| {
        let view = TensorView::new(Dtype::F32, tensor.shape.to_vec(), bytes)?;
        Ok((tensor.name, view))
    });
    let views: Vec<_> = views.collect::<Result<_, safetensors::SafeTensorError>>()?;
    // One entry: a hash map of more has no order, and equal models must be equal files.
    let about = HashMap::from([(LAYOUT.to_owned(), layout.word().to_owned())]);
    serialize(views, Some(about))
}

/// Little-endian bytes.
pub fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return bytemuck::cast_slice(values).into();
    }
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.into()
}
