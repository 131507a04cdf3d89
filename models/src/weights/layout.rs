//! The two layouts in which a file may hold the tensors of a model: ours and PyTorch's.
//!
//! PyTorch keeps the weight of a linear layer as `[out, in]` where burn has `[in, out]`, and calls the
//! `gamma` and `beta` of a normalisation `weight` and `bias`. Convolutions and embeddings are alike.

use crate::{Layer, Leaf};

/// Names and layouts of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Our own: a run's `model.safetensors`, and files of burn.
    Fedround,
    /// The layout of PyTorch's `state_dict`.
    PyTorch,
}

impl Layout {
    /// The word for it in a file's metadata, under the key `layout`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fedround => "fedround",
            Self::PyTorch => "pytorch",
        }
    }

    /// The layout of a word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let mut all = [Self::Fedround, Self::PyTorch].into_iter();
        all.find(|layout| layout.word() == word)
    }

    /// The name of a leaf, called `name` here, in a file of this layout.
    pub fn name(self, name: &str, leaf: &Leaf) -> String {
        let (module, field) = match name.rsplit_once('.') {
            Some((module, field)) => (Some(module), field),
            None => (None, name),
        };
        let field = match (self, leaf.layer, field) {
            (Self::PyTorch, _, "gamma") => "weight",
            (Self::PyTorch, _, "beta") => "bias",
            // `torch.nn.LSTM` numbers its layers.
            (Self::PyTorch, Layer::Lstm, "weight_ih") => "weight_ih_l0",
            (Self::PyTorch, Layer::Lstm, "weight_hh") => "weight_hh_l0",
            (Self::PyTorch, Layer::Lstm, "bias_ih") => "bias_ih_l0",
            (Self::PyTorch, Layer::Lstm, "bias_hh") => "bias_hh_l0",
            (_, _, field) => field,
        };
        module.map_or_else(|| field.to_owned(), |module| format!("{module}.{field}"))
    }

    /// The shape of a leaf in a file of this layout.
    pub fn shape(self, leaf: &Leaf) -> Vec<usize> {
        let mut shape = leaf.shape.clone();
        if self.transposes(leaf) {
            shape.reverse();
        }
        shape
    }

    /// A leaf's values in the order of a file of this layout.
    pub fn from_ours(self, leaf: &Leaf, values: &[f32]) -> Vec<f32> {
        match leaf.shape[..] {
            [rows, columns] if self.transposes(leaf) => transposed(values, rows, columns),
            _ => values.to_vec(),
        }
    }

    /// The values of a file of this layout in our order.
    pub fn to_ours(self, leaf: &Leaf, values: &[f32]) -> Vec<f32> {
        match leaf.shape[..] {
            [rows, columns] if self.transposes(leaf) => transposed(values, columns, rows),
            _ => values.to_vec(),
        }
    }

    /// Whether a leaf is kept as `[out, in]`.
    fn transposes(self, leaf: &Leaf) -> bool {
        let of_layer = matches!(
            leaf.layer,
            Layer::Linear | Layer::Lstm | Layer::AdapterOutput
        );
        self == Self::PyTorch && of_layer && leaf.shape.len() == 2
    }
}

/// `[rows, columns]` as `[columns, rows]`.
fn transposed(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut transposed = vec![0.0; values.len()];
    for (r, row) in values.chunks(columns.max(1)).enumerate() {
        for (c, value) in row.iter().enumerate() {
            transposed[c * rows + r] = *value;
        }
    }
    transposed
}
