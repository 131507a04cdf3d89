//! The tensors of a file, and which leaf of a model each one is.

use std::path::{Path, PathBuf};

use super::file::{self, Stored};
use super::rename::{Renames, rename};
use super::{Layout, WeightsError};
use crate::{Layer, Leaf};

/// The weights of a file, read and converted to `f32`.
///
/// ```no_run
/// use burn::tensor::Device;
/// use fedround_models::{Task, Weights, find};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let task = Task { input: [1, 28, 28], classes: 10 };
/// let model = find("2nn")?.build(task, &Device::default())?;
/// let weights = Weights::read("runs/mnist/model.safetensors".as_ref(), &[])?;
/// let fitted = weights.fit(&model.leaves())?;
/// println!("not in the file: {:?}", fitted.report.drawn);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Weights {
    path: PathBuf,
    layout: Layout,
    tensors: Vec<FileTensor>,
}

/// A tensor of a file.
#[derive(Clone, Debug)]
struct FileTensor {
    /// The file's name of it.
    name: String,
    /// The same after renaming.
    renamed: String,
    /// Empty if it is not of floats.
    shape: Vec<usize>,
    /// Its type if that is not one of floats.
    values: Result<Vec<f32>, String>,
}

/// A leaf's name, with the shape that the file's layout has for it and the one that was found.
pub(super) type ShapeClash = (String, Vec<usize>, Vec<usize>);

/// The leaves of a model that a file has.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The values of each leaf in the model's order and layout; `None` for one that the file lacks.
    pub values: Vec<Option<Vec<f32>>>,
    /// What came from where.
    pub report: LoadReport,
}

/// What came of loading weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Leaves that have the file's values, by our names.
    pub loaded: Vec<String>,
    /// Leaves that the file lacks: they start from the seed, or as their module made them.
    pub drawn: Vec<String>,
    /// Tensors that the model lacks, by the file's names.
    pub left_over: Vec<String>,
}

impl Weights {
    /// Reads a safetensors file, or one that `torch.save` wrote, alone or as the entry `state_dict`,
    /// `model_state_dict` or `model` of a checkpoint. No code of the file runs. `renames` turn the
    /// file's names into ours.
    ///
    /// Whether weights of linear layers are transposed is the file's to say: our own files say so in
    /// their metadata, and files without a note are PyTorch's unless fedround or burn produced them.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or names a layout that is unknown.
    pub fn read(path: &Path, renames: Renames<'_>) -> Result<Self, WeightsError> {
        let (layout, stored) = file::read(path)?;
        let mut tensors = vec![];
        for Stored { name, data } in stored {
            let Some(renamed) = rename(&name, renames) else {
                continue;
            };
            // PyTorch's count of batches is no number that a layer computes with.
            if renamed.ends_with("num_batches_tracked") {
                continue;
            }
            tensors.push(FileTensor {
                name,
                renamed,
                shape: data
                    .as_ref()
                    .map(|d| d.shape().to_vec())
                    .unwrap_or_default(),
                values: data.map(|data| data.iter::<f32>().collect()),
            });
        }
        tensors.sort_by(|a, b| (&a.renamed, &a.name).cmp(&(&b.renamed, &b.name)));
        Ok(Self {
            path: path.to_owned(),
            layout,
            tensors,
        })
    }

    /// The weights that `path` had of a model's leaves, as [`fit`](Self::fit) gave them: names, shapes and
    /// values in our layout.
    pub fn of_leaves(path: PathBuf, leaves: Vec<(String, Vec<usize>, Vec<f32>)>) -> Self {
        let leaves = leaves.into_iter();
        let tensors = leaves.map(|(name, shape, values)| FileTensor {
            renamed: name.clone(),
            name,
            shape,
            values: Ok(values),
        });
        let mut tensors: Vec<FileTensor> = tensors.collect();
        tensors.sort_by(|a, b| a.renamed.cmp(&b.renamed));
        Self {
            path,
            layout: Layout::Fedround,
            tensors,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it names and lays out tensors.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The values that the file has of a model's leaves. It may have a part of them, such as a
    /// backbone, and others beside them: the report says so.
    ///
    /// # Errors
    ///
    /// No tensor has the name of a leaf, or two have the name of one; a leaf's tensor is not of finite
    /// floats, or its shape is not the leaf's: the error names both shapes of all such leaves. Tensors
    /// that the model lacks may be anything.
    pub fn fit(&self, leaves: &[Leaf]) -> Result<Fitted, WeightsError> {
        let (fitted, shapes) = self.fit_under(leaves, "")?;
        if !shapes.is_empty() {
            return Err(WeightsError::Mismatch {
                path: self.path.clone(),
                missing: vec![],
                unexpected: vec![],
                shapes,
            });
        }
        match fitted.report.loaded.is_empty() {
            true => Err(self.nothing(leaves)),
            false => Ok(fitted),
        }
    }

    /// The same of the leaves under a prefix, which the file's names lack, with the leaves whose
    /// shape is another; leaves that are not under it are neither loaded nor drawn.
    pub(super) fn fit_under(
        &self,
        leaves: &[Leaf],
        prefix: &str,
    ) -> Result<(Fitted, Vec<ShapeClash>), WeightsError> {
        let mut used = vec![false; self.tensors.len()];
        let (mut shapes, mut values) = (vec![], vec![]);
        let mut report = LoadReport::default();
        for leaf in leaves {
            let Some(name) = under(&leaf.name, prefix) else {
                values.push(None);
                continue;
            };
            let Some(at) = self.position(name, leaf) else {
                report.drawn.push(leaf.name.clone());
                values.push(None);
                continue;
            };
            used[at] = true;
            let (tensor, found) = self.floats(at)?;
            let expected = self.layout.shape(leaf);
            if tensor.shape == expected {
                if !found.iter().all(|x| x.is_finite()) {
                    return Err(WeightsError::NotFinite {
                        path: self.path.clone(),
                        name: tensor.name.clone(),
                    });
                }
                report.loaded.push(leaf.name.clone());
                values.push(Some(self.layout.to_ours(leaf, found)));
            } else {
                shapes.push((leaf.name.clone(), expected, tensor.shape.clone()));
                values.push(None);
            }
        }
        let rest = self.tensors.iter().zip(used).filter(|(_, used)| !used);
        report.left_over = rest.map(|(tensor, _)| tensor.both_names()).collect();
        Ok((Fitted { values, report }, shapes))
    }

    /// A tensor that has its name to itself, and its values, which are to be floats.
    fn floats(&self, at: usize) -> Result<(&FileTensor, &[f32]), WeightsError> {
        let tensor = &self.tensors[at];
        let next = self.tensors.get(at + 1);
        if let Some(other) = next.filter(|next| next.renamed == tensor.renamed) {
            return Err(WeightsError::Twice {
                path: self.path.clone(),
                names: [tensor.name.clone(), other.name.clone()],
                renamed: tensor.renamed.clone(),
            });
        }
        match &tensor.values {
            Ok(values) => Ok((tensor, values)),
            Err(found) => Err(WeightsError::Type {
                path: self.path.clone(),
                name: tensor.name.clone(),
                found: found.clone(),
            }),
        }
    }

    /// Where the tensor of a leaf is, called `name` in files without a prefix: the first one, if there
    /// are more of the name.
    fn position(&self, name: &str, leaf: &Leaf) -> Option<usize> {
        let at = |name: &str| {
            let at = self.tensors.partition_point(|t| t.renamed.as_str() < name);
            let found = self.tensors.get(at)?;
            (found.renamed == name).then_some(at)
        };
        let own = at(&self.layout.name(name, leaf));
        // `torch.nn.LSTMCell` does not number its layers.
        own.or_else(|| at(name).filter(|_| leaf.layer == Layer::Lstm))
    }

    /// The error of a file without any tensor of the model.
    fn nothing(&self, leaves: &[Leaf]) -> WeightsError {
        let expected = leaves.iter().map(|leaf| self.layout.name(&leaf.name, leaf));
        let found = self.tensors.iter().map(|tensor| tensor.name.clone());
        WeightsError::Nothing {
            path: self.path.clone(),
            expected: some_of(expected.collect()),
            found: some_of(found.collect()),
            prefix: self.prefix(leaves),
        }
    }

    /// The first segments of all names, without which the file has tensors of the model: `module.`.
    fn prefix(&self, leaves: &[Leaf]) -> Option<String> {
        let name = &self.tensors.first()?.renamed;
        let prefixes = name.match_indices('.').map(|(dot, _)| &name[..=dot]);
        let shared = |prefix: &&str| {
            let mut all = self.tensors.iter();
            all.all(|tensor| tensor.renamed.starts_with(prefix))
        };
        let fits = |prefix: &&str| {
            let under = |leaf: &Leaf| self.position(&format!("{prefix}{}", leaf.name), leaf);
            leaves.iter().any(|leaf| under(leaf).is_some())
        };
        let found = prefixes.take_while(shared).find(fits);
        found.map(str::to_owned)
    }
}

impl FileTensor {
    /// Its name in the file, and after renaming where that is another.
    fn both_names(&self) -> String {
        match self.renamed == self.name {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.renamed),
        }
    }
}

/// A leaf's name without the prefix, if it is under it.
fn under<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    match prefix {
        "" => Some(name),
        prefix => name.strip_prefix(prefix)?.strip_prefix('.'),
    }
}

/// The first few names of a list.
fn some_of(names: Vec<String>) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "none".to_owned(),
        n if n > SHOWN => format!("{shown} and {} more", n - SHOWN),
        _ => shown,
    }
}
