//! Writes a trained model to a file.

use std::io;
use std::path::Path;

use fedround_models::{Layout, NamedValues, to_safetensors};
use fedround_store::{StoreError, write_atomically};

use super::{ExperimentError, Parameters};

/// Writes parameters, such as those of a [`Report`](super::Report), to a safetensors file, whole or not at all.
/// [`Experiment::weights`](super::Experiment::weights) and the command's `--weights` read it. Names and layouts
/// are fedround's, and the file says so.
///
/// For a run that trained adapters, these are the adapters; [`merged`](super::merged) makes the whole model of
/// them. Where clients keep parts of the model, the server's values of these are what they began as;
/// [`Scores::by_clients`](super::Scores::by_clients) says which parts they are.
///
/// # Errors
///
/// The file cannot be written, or a tensor has not as many values as its shape says.
pub fn write_model(path: &Path, parameters: &Parameters) -> Result<(), ExperimentError> {
    let tensors = parameters.iter().map(|(name, ty, values)| NamedValues {
        name,
        shape: &ty.shape,
        values,
    });
    let tensors: Vec<_> = tensors.collect();
    let bytes = to_safetensors(&tensors, Layout::Fedround).map_err(io::Error::other);
    let bytes = bytes.map_err(StoreError::io("write", path))?;
    Ok(write_atomically(path, &[&bytes])?)
}
