//! Errors of loading weights.

use std::path::PathBuf;

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
    /// The file's note on its layout is one that this version does not know.
    #[error(
        "{path} says that its layout is `{found}`, expected `fedround` or `pytorch`; a later version may have written it"
    )]
    Layout {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
    },
    /// No tensor of the file has the name of a leaf of the model.
    #[error(
        "{path} has no tensor of the model: it has {found}, and the model has {expected}; rules for names turn one into the other"
    )]
    Nothing {
        /// The file.
        path: PathBuf,
        /// Names of the model's leaves, as the file would have them.
        expected: String,
        /// Names of the file's tensors.
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
        /// Leaves whose tensor has another shape: name, expected and found in the file's layout.
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
