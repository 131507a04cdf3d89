//! Reads files of named tensors: safetensors, and files of `torch.save`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use burn::tensor::{DType, TensorData};
use pytorch_reader::PytorchReader;
use safetensors::{Dtype, SafeTensors};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{Layout, WeightsError};

/// The key of a safetensors file's metadata under which its layout stands.
pub(super) const LAYOUT: &str = "layout";

/// A tensor of a file.
pub(super) struct Stored {
    /// The file's name of it.
    pub name: String,
    /// Its values; its type if that is not one of floats.
    pub data: Result<TensorData, String>,
}

/// Reads a file of safetensors or of PyTorch's own kind, whichever it is, and tells its layout.
pub(super) fn read(path: &Path) -> Result<(Layout, Vec<Stored>), WeightsError> {
    let io = |source| WeightsError::Io {
        path: path.to_owned(),
        source,
    };
    let mut start = Vec::new();
    let mut file = File::open(path).map_err(io)?;
    (&mut file)
        .take(START)
        .read_to_end(&mut start)
        .map_err(io)?;
    if start.is_empty() {
        return Err(WeightsError::Empty {
            path: path.to_owned(),
        });
    }
    if is_torch(&start) {
        let tensors = read_torch(path).map_err(|reason| torch_error(path, &start, &reason))?;
        return Ok((Layout::PyTorch, tensors));
    }
    let bytes = std::fs::read(path).map_err(io)?;
    let broken = |source| WeightsError::Format {
        path: path.to_owned(),
        source,
    };
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(broken)?;
    let layout = layout(header.metadata().as_ref()).map_err(|found| WeightsError::Layout {
        path: path.to_owned(),
        found,
    })?;
    let file = SafeTensors::deserialize(&bytes).map_err(broken)?;
    let tensors = file.iter().map(|(name, view)| stored(name, &view));
    Ok((layout, tensors.collect()))
}

/// Why a file that begins like one of PyTorch's cannot be read. Such a file is a ZIP archive with a list of its contents
/// at its end, as are NumPy's `.npz`.
fn torch_error(path: &Path, start: &[u8], reason: &str) -> WeightsError {
    let path = path.to_owned();
    let is_array = |name: Result<Cow<'_, str>, ZipError>| name.is_ok_and(|n| n.ends_with(".npy"));
    let archive = File::open(&path).map(BufReader::new).map(ZipArchive::new);
    match archive {
        Ok(Ok(archive)) if archive.file_names().any(is_array) => WeightsError::Numpy { path },
        Ok(Err(ZipError::InvalidArchive(_))) if start.starts_with(b"PK\x03\x04") => {
            WeightsError::CutOff { path }
        }
        _ => WeightsError::Torch {
            path,
            reason: reason.trim_end_matches('.').to_owned(),
        },
    }
}

/// What a file's metadata says of its layout. Files without a note are PyTorch's, unless fedround,
/// whose first versions left no note, or burn produced them. Fails with a word that is none of ours.
fn layout(metadata: Option<&HashMap<String, String>>) -> Result<Layout, String> {
    let entry = |key: &str| metadata.and_then(|all| all.get(key));
    if let Some(word) = entry(LAYOUT) {
        return Layout::of_word(word).ok_or_else(|| word.clone());
    }
    let ours = entry("producer").is_some_and(|by| by == "burn" || by.starts_with("fedround "));
    Ok(match ours {
        true => Layout::Fedround,
        false => Layout::PyTorch,
    })
}

/// The first bytes of a file that say which kind it is.
const START: u64 = 9;

/// Whether a file begins as `torch.save` begins one: an archive, or before PyTorch 1.6 a pickle. The length of a
/// safetensors file's header may look like the beginning of a pickle; its header follows, in JSON.
fn is_torch(start: &[u8]) -> bool {
    let is_safetensors = start.get(8) == Some(&b'{');
    start.starts_with(b"PK\x03\x04") || matches!(start, [0x80, 2..=5, ..]) && !is_safetensors
}

/// Entries of a checkpoint under which scripts save the model's `state_dict`, those that count first.
const ENTRIES: [&str; 3] = ["state_dict", "model_state_dict", "model"];

/// The tensors of a file that `torch.save` wrote; those of one entry alone, if it is a checkpoint with
/// one of [`ENTRIES`]. Fails with what is wrong, in words.
fn read_torch(path: &Path) -> Result<Vec<Stored>, String> {
    let tensors = PytorchReader::new(path)
        .map_err(|error| error.to_string())?
        .into_tensors();
    if tensors.is_empty() {
        return Err("it holds no tensors by name".to_owned());
    }
    // The reader joins the names of dictionaries in one another by dots. A module may be called
    // `model`, too: an entry is a dictionary of its own.
    let is_entry = |entry: &&str| {
        let mut names = tensors.keys();
        names.any(|name| inside(name, entry).is_some())
            && PytorchReader::with_top_level_key(path, entry).is_ok()
    };
    let entry = ENTRIES.into_iter().find(is_entry);
    let mut read = vec![];
    for (name, tensor) in tensors {
        let name = match entry.map(|entry| inside(&name, entry)) {
            Some(Some(inner)) => inner.to_owned(),
            Some(None) => continue,
            None => name,
        };
        let dtype = match tensor.dtype() {
            pytorch_reader::DType::F64 => Ok(DType::F64),
            pytorch_reader::DType::F32 => Ok(DType::F32),
            pytorch_reader::DType::F16 => Ok(DType::F16),
            pytorch_reader::DType::BF16 => Ok(DType::BF16),
            found => Err(format!("{found:?}")),
        };
        let data = match dtype {
            Ok(dtype) => {
                let bytes = tensor.read().map_err(|error| error.to_string())?;
                let shape = tensor.shape().to_vec();
                Ok(TensorData::from_bytes_vec(bytes, shape, dtype))
            }
            Err(found) => Err(found),
        };
        read.push(Stored { name, data });
    }
    Ok(read)
}

/// The name of a tensor inside an entry of a checkpoint, if it is there.
fn inside<'a>(name: &'a str, entry: &str) -> Option<&'a str> {
    name.strip_prefix(entry)?.strip_prefix('.')
}

fn stored(name: &str, view: &safetensors::tensor::TensorView<'_>) -> Stored {
    let dtype = match view.dtype() {
        Dtype::F64 => Ok(DType::F64),
        Dtype::F32 => Ok(DType::F32),
        Dtype::F16 => Ok(DType::F16),
        Dtype::BF16 => Ok(DType::BF16),
        found => Err(format!("{found:?}")),
    };
    let data = dtype.map(|dtype| {
        TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype)
    });
    Stored {
        name: name.to_owned(),
        data,
    }
}
