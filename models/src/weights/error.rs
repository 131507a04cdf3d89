//! Errors of loading weights.

use std::path::PathBuf;

/// Weights cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has no bytes.
    #[error(
        "{path} is empty, expected a file of weights; it was not written to its end, so write or download it again"
    )]
    Empty {
        /// The file.
        path: PathBuf,
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
    /// The file is an archive that has no end.
    #[error(
        "{path} is cut off or damaged: the list of its contents is missing; download it again, or write it again in Python, best with safetensors.torch.save_file(model.state_dict(), path)"
    )]
    CutOff {
        /// The file.
        path: PathBuf,
    },
    /// The file is NumPy's.
    #[error(
        "{path} is an archive of NumPy's arrays, expected a file of safetensors or of torch.save; convert it in Python with safetensors.numpy.save_file(dict(numpy.load(path)), new_path)"
    )]
    Numpy {
        /// The file.
        path: PathBuf,
    },
    /// A tensor of the model is not of floats.
    #[error(
        "{path}: `{name}` is of {found}, expected floats; convert it before it is saved, or leave it out by the rule `^{name}=`, before any others"
    )]
    Type {
        /// The file.
        path: PathBuf,
        /// The tensor, as the file names it.
        name: String,
        /// Its type.
        found: String,
    },
    /// A tensor of the model has numbers that are not finite.
    #[error(
        "{path}: `{name}` has numbers that are NaN or infinite as 32-bit floats, expected finite ones; take weights from before the training that made them diverged, or leave it out by the rule `^{name}=`, before any others"
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The tensor, as the file names it.
        name: String,
    },
    /// Two tensors have the name of one leaf of the model.
    #[error(
        "{path}: `{}` and `{}` are both called `{renamed}` by the rules for names, expected one tensor of this name; leave one out by the rule `^{}=`, before any others",
        .names[0], .names[1], .names[1]
    )]
    Twice {
        /// The file.
        path: PathBuf,
        /// The tensors, as the file names them.
        names: [String; 2],
        /// Their name after renaming.
        renamed: String,
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
        "{path} has no tensor of the model: it has {found}, and the model has {expected}; {}",
        remedy(.prefix.as_deref())
    )]
    Nothing {
        /// The file.
        path: PathBuf,
        /// Names of the model's leaves, as the file would have them.
        expected: String,
        /// Names of the file's tensors.
        found: String,
        /// What all names of the file begin with, if there are tensors of the model without it; with
        /// the dot behind it.
        prefix: Option<String>,
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

/// How names of a file without any tensor of the model become the model's.
fn remedy(prefix: Option<&str>) -> String {
    match prefix {
        Some(prefix) => format!(
            "all names of the file begin with `{prefix}`, and the rule `^{prefix}=`, after all others, removes it"
        ),
        None => "rules for names turn one into the other".to_owned(),
    }
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
