//! Files of named tensors.

use std::path::Path;

use burn::tensor::{DType, TensorData};
use safetensors::{Dtype, SafeTensors};

use super::{WeightsError, torch};

/// A tensor of a file.
pub(super) struct Stored {
    /// The file's name of it.
    pub name: String,
    /// Its values; its type if that is not one of floats.
    pub data: Result<TensorData, String>,
}

/// Reads a file of safetensors or of PyTorch's own kind, whichever it is.
pub(super) fn read(path: &Path) -> Result<Vec<Stored>, WeightsError> {
    let bytes = std::fs::read(path).map_err(|source| WeightsError::Io {
        path: path.to_owned(),
        source,
    })?;
    if torch::is_torch(&bytes) {
        return torch::read(&bytes).map_err(|reason| WeightsError::Torch {
            path: path.to_owned(),
            reason,
        });
    }
    let file = SafeTensors::deserialize(&bytes).map_err(|source| WeightsError::Format {
        path: path.to_owned(),
        source,
    })?;
    Ok(file
        .iter()
        .map(|(name, view)| stored(name, &view))
        .collect())
}

fn stored(name: &str, view: &safetensors::tensor::TensorView<'_>) -> Stored {
    let dtype = match view.dtype() {
        Dtype::F64 => Ok(DType::F64),
        Dtype::F32 => Ok(DType::F32),
        Dtype::F16 => Ok(DType::F16),
        Dtype::BF16 => Ok(DType::BF16),
        found => Err(format!("{found:?}")),
    };
    let values = || (view.data().to_vec(), view.shape().to_vec());
    let data = dtype.map(|dtype| {
        let (bytes, shape) = values();
        TensorData::from_bytes_vec(bytes, shape, dtype)
    });
    Stored {
        name: name.to_owned(),
        data,
    }
}
