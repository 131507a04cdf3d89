//! A model's tensors as PyTorch's `state_dict` names and lays them out, in Flower's arrays.

use fedround_exec::Program;
use fedround_flower::{Array, ArrayError, Arrays, Dtype};
use fedround_models::{Layout, Leaf, little_endian};
use fedround_simulation::parties::ModelValues;

/// What PyTorch's normalisations count besides the tensors that a model computes with.
const COUNTER: &str = "num_batches_tracked";

/// The names and shapes of a model in PyTorch.
pub(super) struct StateDict(Vec<Entry>);

struct Entry {
    name: String,
    shape: Vec<usize>,
    leaf: Leaf,
}

/// Arrays are not those of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateDictError {
    /// One is missing.
    #[error("expected the array `{name}` of shape {shape:?}, found none of this name")]
    Missing {
        /// Its name.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// One is of no tensor of the model.
    #[error("found the array `{name}`, which the model does not have; it has {known}")]
    Unexpected {
        /// Its name.
        name: String,
        /// The names of the model's.
        known: String,
    },
    /// One has another shape or type.
    #[error(
        "array `{name}`: expected float32 of shape {expected:?}, found {dtype} of shape {found:?}"
    )]
    Other {
        /// Its name.
        name: String,
        /// Its shape in the model.
        expected: Vec<usize>,
        /// The type that was found.
        dtype: &'static str,
        /// The shape that was found.
        found: Vec<usize>,
    },
    /// Values do not fill the shape.
    #[error("array `{name}`: {source}")]
    Array {
        /// Its name.
        name: String,
        /// How they do not fit.
        source: ArrayError,
    },
}

impl StateDict {
    /// The state dictionary of a program's model.
    pub fn of(program: &Program) -> Self {
        let leaves = program.model().model().leaves().into_iter();
        let entry = |leaf: Leaf| Entry {
            name: Layout::PyTorch.name(&leaf.name, &leaf),
            shape: Layout::PyTorch.shape(&leaf),
            leaf,
        };
        Self(leaves.map(entry).collect())
    }

    /// A model, given in its own order, as arrays.
    ///
    /// # Errors
    ///
    /// A tensor has another size.
    pub fn arrays(&self, model: &[Vec<f32>]) -> Result<Arrays, StateDictError> {
        let tensors = self.0.iter().zip(model);
        let arrays = tensors.map(|(entry, values)| {
            let values = Layout::PyTorch.from_ours(&entry.leaf, values);
            let bytes = little_endian(&values).into_owned();
            let array = Array::new(Dtype::F32, entry.shape.clone(), bytes);
            let array = array.map_err(|source| StateDictError::Array {
                name: entry.name.clone(),
                source,
            })?;
            Ok((entry.name.clone(), array))
        });
        arrays.collect()
    }

    /// The counters of batches among arrays, which go back as they came: nothing is computed with them.
    pub fn counters(arrays: &Arrays) -> Arrays {
        let counters = arrays.iter().filter(|(name, _)| counts(name));
        let counters = counters.map(|(name, array)| (name.clone(), array.clone()));
        counters.collect()
    }

    /// The model in arrays. Counters of batches are passed over.
    ///
    /// # Errors
    ///
    /// They are not exactly the model's.
    pub fn model(&self, arrays: &Arrays) -> Result<ModelValues, StateDictError> {
        let known = |name: &str| self.0.iter().any(|entry| entry.name == name);
        if let Some(name) = arrays.keys().find(|name| !known(name) && !counts(name)) {
            let known = self.0.iter().map(|entry| entry.name.as_str());
            return Err(StateDictError::Unexpected {
                name: name.clone(),
                known: known.collect::<Vec<_>>().join(", "),
            });
        }
        self.0.iter().map(|entry| entry.values(arrays)).collect()
    }
}

/// Whether an array is a counter of batches.
fn counts(name: &str) -> bool {
    name.rsplit('.').next() == Some(COUNTER)
}

impl Entry {
    fn values(&self, arrays: &Arrays) -> Result<Vec<f32>, StateDictError> {
        let name = self.name.clone();
        let Some(array) = arrays.get(&name) else {
            let shape = self.shape.clone();
            return Err(StateDictError::Missing { name, shape });
        };
        if array.dtype() != Dtype::F32 || array.shape() != self.shape {
            return Err(StateDictError::Other {
                name,
                expected: self.shape.clone(),
                dtype: array.dtype().name(),
                found: array.shape().to_vec(),
            });
        }
        let (words, _) = array.bytes().as_chunks::<4>();
        let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        Ok(Layout::PyTorch.to_ours(&self.leaf, &values))
    }
}
