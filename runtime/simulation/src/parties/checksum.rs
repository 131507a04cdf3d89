//! Short checksums of tensors, by which a host finds whether a client's tensor equals the server's.

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::read;
use fedround_models::little_endian;
use sha2::{Digest, Sha256};

use crate::error::RunError;

/// For each tensor, the first eight bytes of the SHA-256 digest of its elements.
pub(crate) fn checksums(tensors: &[DispatchTensor]) -> Result<Vec<u64>, RunError> {
    tensors.iter().map(checksum).collect()
}

fn checksum(tensor: &DispatchTensor) -> Result<u64, RunError> {
    let values = read(tensor.clone())?;
    let digest = Sha256::digest(little_endian(&values));
    Ok(digest
        .into_iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(byte)))
}
