//! Weights from PyTorch, by name.

mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::TensorData;

use crate::{Layer, Leaf, Model};
use file::Stored;

/// Rules that turn PyTorch's names into ours, applied one after the other: `(from, to)` replaces
/// whole segments between dots where they first stand, or at the start alone if `from` begins with
/// `^`. An empty `to` leaves the tensor out.
pub type Renames<'a> = &'a [(&'a str, &'a str)];

/// For torchvision's `resnet18`, `resnet34` and `resnet50` to [`ResNet`](crate::ResNet).
pub const TORCHVISION_RESNET: Renames<'static> = &[
    ("^conv1", "features.conv"),
    ("^bn1", "features.norm"),
    ("^layer1", "features.stage1"),
    ("^layer2", "features.stage2"),
    ("^layer3", "features.stage3"),
    ("^layer4", "features.stage4"),
    ("^fc", "head"),
    ("conv3", "expand.conv"),
    ("bn1", "norm1"),
    ("bn2", "norm2"),
    ("bn3", "expand.norm"),
    ("downsample.0", "shortcut.conv"),
    ("downsample.1", "shortcut.norm"),
];

/// Weights cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no safetensors file.
    #[error(
        "{path} is no safetensors file ({source}); write one in Python with safetensors.torch.save_file(model.state_dict(), path)"
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: safetensors::SafeTensorError,
    },
    /// The file is one of PyTorch's own, and cannot be read.
    #[error(
        "{path} is PyTorch's own kind of file, which cannot be read: {reason}. A safetensors file always can: write one in Python with safetensors.torch.save_file(model.state_dict(), path)"
    )]
    Torch {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A tensor is not of floats.
    #[error("{path}: `{name}` is of {found}, expected floats")]
    Type {
        /// The file.
        path: PathBuf,
        /// The tensor, as the file names it.
        name: String,
        /// Its type.
        found: String,
    },
    /// The file's tensors are not the model's.
    #[error("{path} does not fit the model:{}", report(.missing, .unexpected, .shapes))]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// Leaves that the file lacks, by our names.
        missing: Vec<String>,
        /// Tensors that the model lacks, by their names in the file and after renaming.
        unexpected: Vec<String>,
        /// Leaves whose tensor has another shape: name, expected and found in PyTorch's order.
        shapes: Vec<(String, Vec<usize>, Vec<usize>)>,
    },
}

fn report(
    missing: &[String],
    unexpected: &[String],
    shapes: &[(String, Vec<usize>, Vec<usize>)],
) -> String {
    let lines = |what: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!("\n  {what}: {}", names.join(", ")),
    };
    let shapes: Vec<String> = shapes
        .iter()
        .map(|(name, expected, found)| format!("`{name}` expected {expected:?}, found {found:?}"))
        .collect();
    lines("missing", missing) + &lines("unexpected", unexpected) + &lines("shapes", &shapes)
}

/// The model with the values of PyTorch's `state_dict`, in a safetensors file or in one that
/// `torch.save` wrote, alone or as the entry `state_dict` of a checkpoint. No code of the file runs.
///
/// Only leaves under `prefix` are set, such as `image` of [`VqaNet`](crate::VqaNet); names in the
/// file are without it. All leaves are under the empty prefix. Linear and LSTM weights are
/// transposed, a normalisation's `weight` and `bias` are our `gamma` and `beta`, and
/// `num_batches_tracked` is passed over.
///
/// # Errors
///
/// The file cannot be read, a tensor is not of floats, or names and shapes are not the model's: the
/// error lists what is missing, unexpected or of another shape.
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
/// let model = load_weights(&model, "image", path, TORCHVISION_RESNET)?;
/// # Ok::<(), fedround_models::WeightsError>(())
/// ```
pub fn load_weights(
    model: &dyn Model,
    prefix: &str,
    path: &Path,
    renames: Renames<'_>,
) -> Result<Box<dyn Model>, WeightsError> {
    let mut file = read(path, renames)?;
    let (mut missing, mut shapes) = (vec![], vec![]);
    let mut values = vec![];
    for leaf in model.leaves() {
        let within = under(&leaf.name, prefix);
        let Some(name) = within else {
            values.push(leaf.value());
            continue;
        };
        let Some((_, data)) = file.remove(&torch_name(name)) else {
            missing.push(leaf.name);
            continue;
        };
        let expected = torch_shape(&leaf);
        if data.shape().as_slice() != expected {
            shapes.push((leaf.name, expected, data.shape().to_vec()));
            continue;
        }
        values.push(if is_transposed(&leaf) {
            transposed(data)
        } else {
            data
        });
    }
    let unexpected: Vec<String> = file
        .into_iter()
        .map(|(renamed, (name, _))| {
            if renamed == name {
                name
            } else {
                format!("{name} ({renamed})")
            }
        })
        .collect();
    if missing.is_empty() && unexpected.is_empty() && shapes.is_empty() {
        return Ok(model.with_leaves(values));
    }
    Err(WeightsError::Mismatch {
        path: path.to_owned(),
        missing,
        unexpected,
        shapes,
    })
}

/// A leaf's name without the prefix, if it is under it.
fn under<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() {
        return Some(name);
    }
    name.strip_prefix(prefix)?.strip_prefix('.')
}

/// Tensors by their new names, with the old ones.
fn read(
    path: &Path,
    renames: Renames<'_>,
) -> Result<BTreeMap<String, (String, TensorData)>, WeightsError> {
    let mut tensors = BTreeMap::new();
    for Stored { name, data } in file::read(path)? {
        let Some(renamed) = rename(&name, renames) else {
            continue;
        };
        if renamed.ends_with("num_batches_tracked") {
            continue;
        }
        let data = data.map_err(|found| WeightsError::Type {
            path: path.to_owned(),
            name: name.clone(),
            found,
        })?;
        tensors.insert(renamed, (name, data.convert::<f32>()));
    }
    Ok(tensors)
}

/// The new name of a tensor; none if it is left out.
fn rename(name: &str, renames: Renames<'_>) -> Option<String> {
    let mut segments: Vec<&str> = name.split('.').collect();
    for (from, to) in renames {
        let (anchored, from) = match from.strip_prefix('^') {
            Some(from) => (true, from),
            None => (false, *from),
        };
        let from: Vec<&str> = from.split('.').collect();
        let found = segments.windows(from.len()).position(|w| w == from);
        let Some(at) = found.filter(|at| !anchored || *at == 0) else {
            continue;
        };
        if to.is_empty() {
            return None;
        }
        segments.splice(at..at + from.len(), to.split('.'));
    }
    Some(segments.join("."))
}

/// PyTorch's name of a leaf: a normalisation's `gamma` and `beta` are its weight and bias.
fn torch_name(name: &str) -> String {
    let (module, field) = name.rsplit_once('.').unwrap_or(("", name));
    match field {
        "gamma" => format!("{module}.weight"),
        "beta" => format!("{module}.bias"),
        _ => name.to_owned(),
    }
}

/// Whether PyTorch keeps the leaf as `[out, in]`.
fn is_transposed(leaf: &Leaf) -> bool {
    matches!(leaf.layer, Layer::Linear | Layer::Lstm) && leaf.shape.len() == 2
}

fn torch_shape(leaf: &Leaf) -> Vec<usize> {
    let mut shape = leaf.shape.clone();
    if is_transposed(leaf) {
        shape.reverse();
    }
    shape
}

/// `[rows, columns]` as `[columns, rows]`.
fn transposed(data: TensorData) -> TensorData {
    let [rows, columns] = [data.shape()[0], data.shape()[1]];
    let values: Vec<f32> = data.iter::<f32>().collect();
    let order = (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c));
    TensorData::new(
        order.map(|i| values[i]).collect::<Vec<_>>(),
        [columns, rows],
    )
}
