//! Reads and writes weights: safetensors, and files of `torch.save`.

mod error;
mod file;
mod fit;
mod layout;
mod rename;
mod torch_file;
mod write;

use std::path::Path;

use burn::tensor::TensorData;

use crate::Model;

pub use error::WeightsError;
pub use fit::{Fitted, LoadReport, Weights};
pub use layout::Layout;
pub use rename::{Renames, TORCHVISION_RESNET};
pub use torch_file::to_torch_file;
pub use write::{NamedValues, little_endian, to_safetensors};

/// The model with the weights of a file, all of them; [`Weights::fit`] takes a part of the names.
///
/// Only leaves under `prefix` are set, such as `features.image` of [`VqaNet`](crate::VqaNet); names in the
/// file are without it. All leaves are under the empty prefix. In PyTorch's files linear and LSTM
/// weights are transposed, a normalisation's `weight` and `bias` are our `gamma` and `beta`, and
/// `num_batches_tracked` is passed over.
///
/// # Errors
///
/// The file cannot be read, a leaf's tensor is not of finite floats or not alone under its name, or
/// names and shapes are not the model's: the error lists what is missing, unexpected or of another
/// shape.
///
/// # Examples
///
/// ImageNet's ResNet-18 in the image channel of a model of questions:
///
/// ```no_run
/// use burn::tensor::Device;
/// use fedround_models::{TORCHVISION_RESNET, VqaConfig, load_weights};
///
/// let model = VqaConfig::new(10_000).init(&Device::default());
/// let path = "resnet18.safetensors".as_ref();
/// let model = load_weights(&model, "features.image", path, TORCHVISION_RESNET)?;
/// # Ok::<(), fedround_models::WeightsError>(())
/// ```
pub fn load_weights(
    model: &dyn Model,
    prefix: &str,
    path: &Path,
    renames: Renames<'_>,
) -> Result<Box<dyn Model>, WeightsError> {
    let leaves = model.leaves();
    let weights = Weights::read(path, renames)?;
    let (fitted, shapes) = weights.fit_under(&leaves, prefix)?;
    let LoadReport {
        drawn, left_over, ..
    } = fitted.report;
    if !(drawn.is_empty() && left_over.is_empty() && shapes.is_empty()) {
        return Err(WeightsError::Mismatch {
            path: path.to_owned(),
            missing: drawn,
            unexpected: left_over,
            shapes,
        });
    }
    let values = leaves.iter().zip(fitted.values);
    let values = values.map(|(leaf, values)| match values {
        Some(values) => TensorData::new(values, leaf.shape.clone()),
        None => leaf.value(),
    });
    Ok(model.with_leaves(values.collect()))
}
