//! Tensors as the parts of a checkpoint have them.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_exec::device::with_gpu_access;
use fedround_store::{ArchiveError, TensorBytes};

use crate::checkpoint_error::CheckpointError;
use crate::tensor_bytes::{from_bytes, to_bytes};

/// The bytes of the tensors of a state, or of the parameters.
pub(super) fn tensor_bytes(
    name: &str,
    tensors: &[DispatchTensor],
) -> Result<Vec<TensorBytes>, CheckpointError> {
    to_bytes(tensors)?.ok_or_else(|| CheckpointError::Element {
        name: name.to_owned(),
    })
}

/// Tensors from the bytes of a part of an archive.
pub(super) fn tensors_on_device(
    part: &str,
    tensors: &[TensorBytes],
    device: &DispatchDevice,
) -> Result<Vec<DispatchTensor>, ArchiveError> {
    let tensors = tensors.iter().map(|bytes| from_bytes(bytes, device));
    let tensors = with_gpu_access(|| tensors.collect::<Option<_>>());
    tensors.ok_or_else(|| shape_error(part))
}

/// The error if the shapes of a part's tensors are not those of the program.
pub(super) fn shape_error(part: &str) -> ArchiveError {
    ArchiveError::Content {
        part: part.to_owned(),
        message: "the shapes of its tensors are not those of the program".to_owned(),
    }
}
