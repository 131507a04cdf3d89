//! The initial parameters of a model, drawn from the seed of a run.

use burn_backend::TensorMetadata;
use fedround_exec::tensor::{read, repeated};
use fedround_models::{Layer, Layout, Leaf, Model};
use fedround_random::{Purpose, StreamKey, uniform};

use crate::error::RunError;

/// The initial values of a run, as [`Simulation::new`](crate::Simulation::new) draws them; see the table in
/// `docs/models.md`. They are those of PyTorch's defaults, drawn from the stream `(INIT, layer, leaf)` of the seed:
///
/// - linear, convolutional and transposed convolutional layers: `U(−1/√fan_in, 1/√fan_in)`, biases
///   too;
/// - LSTM layers: `U(−1/√units, 1/√units)`;
/// - embeddings: `N(0, 1)`;
/// - other layers such as normalisations, parameters outside layers, and buffers keep the values with which the model was
///   built.
///
/// Values are drawn in the order `[out, in, …]`. Linear and LSTM weights are stored as `[in, out]`, so their values are
/// transposed.
///
/// # Errors
///
/// The values with which the model was built cannot be read.
pub fn initial_values(leaves: &[Leaf], seed: u64) -> Result<Vec<Vec<f32>>, RunError> {
    let values = layers(leaves).enumerate().flat_map(|(layer, leaves)| {
        let bound = bound(leaves);
        leaves.iter().enumerate().map(move |(i, leaf)| {
            let key = StreamKey::new(seed, Purpose::Init).with(layer).with(i);
            let n = leaf.shape.iter().product();
            Ok(match Source::of(leaf, bound) {
                Source::Normal => normal(n, key),
                Source::Uniform(bound) => {
                    let values = &uniform(n, bound, key);
                    Layout::PyTorch.to_ours(leaf, values)
                }
                Source::Model => read(leaf.tensor.clone())?,
            })
        })
    });
    values.collect()
}

/// The model with a repeated zero for each value that [`initial_values`] draws. No run uses the values with which the
/// model was built, and they take as much memory as the parameters of a run.
pub fn without_drawn_values(model: &dyn Model) -> Box<dyn Model> {
    let leaves = model.leaves();
    let tensors = layers(&leaves).flat_map(|leaves| {
        let bound = bound(leaves);
        leaves
            .iter()
            .map(move |leaf| match Source::of(leaf, bound) {
                Source::Model => leaf.tensor.clone(),
                Source::Normal | Source::Uniform(_) => {
                    repeated(0.0, &leaf.shape, &leaf.tensor.device())
                }
            })
    });
    model.with_tensors(tensors.collect())
}

/// Where a leaf's initial values come from.
enum Source {
    /// Drawn from `N(0, 1)`.
    Normal,
    /// Drawn from `U(-bound, bound)`.
    Uniform(f64),
    /// Those with which the model was built.
    Model,
}

impl Source {
    /// For a leaf of a layer with this [`bound`].
    fn of(leaf: &Leaf, bound: Option<f64>) -> Self {
        match (leaf.layer, bound) {
            (Layer::Embedding, _) => Self::Normal,
            (_, Some(bound)) if !leaf.buffer => Self::Uniform(bound),
            _ => Self::Model,
        }
    }
}

/// The leaves of each layer.
fn layers(leaves: &[Leaf]) -> impl Iterator<Item = &[Leaf]> {
    let layer = |leaf: &Leaf| {
        leaf.name
            .rsplit_once('.')
            .map(|(layer, _)| layer.to_owned())
    };
    leaves.chunk_by(move |a, b| layer(a) == layer(b))
}

/// The bound of a layer's uniformly distributed values; `None` if it keeps the values with which it was built.
fn bound(leaves: &[Leaf]) -> Option<f64> {
    let fan_in = match (leaves[0].layer, &leaves[0].shape[..]) {
        (Layer::Embedding | Layer::AdapterOutput | Layer::Other, _) | (_, [] | [_]) => return None,
        // An LSTM layer has four gates for each unit.
        (Layer::Lstm, [_, gates]) => gates / 4,
        (_, [d_in, _]) => *d_in,
        // For a transposed convolution, whose weight is `[in, out, …]`, PyTorch uses the outputs.
        (_, [_, rest @ ..]) => rest.iter().product(),
    };
    Some((fan_in as f64).powf(-0.5))
}

/// `n` standard normal numbers.
fn normal(n: usize, key: StreamKey) -> Vec<f32> {
    let mut stream = key.stream();
    (0..n).map(|_| stream.normal() as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(layer: usize, leaf: usize) -> StreamKey {
        StreamKey::new(7, Purpose::Init).with(layer).with(leaf)
    }
    use burn::tensor::{Device, Tensor};
    use fedround_exec::tensor::floats;
    use fedround_models::{Task, build};

    fn leaf(name: &str, shape: &[usize]) -> Leaf {
        let layer = match name.split_once('.') {
            Some(("conv" | "up", _)) => Layer::Convolution,
            Some(("norm" | "lora", _)) => Layer::Other,
            _ => Layer::Linear,
        };
        let values = Tensor::<1>::full([shape.iter().product::<usize>()], 0.5, &Device::default());
        Leaf {
            name: name.to_owned(),
            tensor: values.into_dispatch(),
            shape: shape.to_vec(),
            buffer: false,
            layer,
            modules: vec![],
        }
    }

    #[test]
    fn a_model_without_drawn_values_starts_as_the_model_itself() {
        let task = Task {
            input: [1, 28, 28],
            classes: 10,
        };
        for (name, words) in [("fedaa-cnn-bn", None), ("char-lstm", Some(12))] {
            let model = build(name, task, words, &Device::flex()).unwrap();
            let without = without_drawn_values(&*model).leaves();
            assert_eq!(
                initial_values(&without, 7).unwrap(),
                initial_values(&model.leaves(), 7).unwrap(),
                "{name}"
            );
            let weight = without.iter().find(|leaf| leaf.shape.len() > 1).unwrap();
            assert!(
                floats(&weight.tensor).is_none(),
                "{name}: one number, not a row"
            );
        }
    }

    #[test]
    fn two_layers_draw_from_their_own_streams() {
        let leaves = [
            leaf("fc1.weight", &[3, 2]),
            leaf("fc1.bias", &[2]),
            leaf("fc2.weight", &[2, 1]),
        ];
        let values = initial_values(&leaves, 7).unwrap();
        let raw = uniform(6, 3f64.powf(-0.5), key(0, 0));
        assert_eq!(values[0], [raw[0], raw[3], raw[1], raw[4], raw[2], raw[5]]);
        assert_eq!(values[1], uniform(2, 3f64.powf(-0.5), key(0, 1)));
        assert_eq!(values[2], uniform(2, 2f64.powf(-0.5), key(1, 0)));
    }

    #[test]
    fn normalisations_keep_their_values() {
        let leaves = [
            leaf("conv.weight", &[2, 1, 3, 3]),
            leaf("norm.gamma", &[2]),
            leaf("norm.beta", &[2]),
        ];
        let values = initial_values(&leaves, 7).unwrap();
        assert_eq!(values[0], uniform(18, 9f64.powf(-0.5), key(0, 0)));
        assert_eq!(values[1..], [[0.5, 0.5], [0.5, 0.5]]);
    }

    /// Matrices of low rank begin as their module made them, or their product would not be zero.
    #[test]
    fn parameters_of_a_module_s_own_keep_their_values() {
        let leaves = [leaf("lora.a", &[3, 2]), leaf("lora.b", &[2, 3])];
        let values = initial_values(&leaves, 7).unwrap();
        assert_eq!(values, [[0.5; 6], [0.5; 6]]);
    }

    #[test]
    fn lstm_layers_are_bounded_by_their_units() {
        let names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"];
        let shapes: [&[usize]; 4] = [&[100, 64], &[16, 64], &[64], &[64]];
        let leaves = names.iter().zip(shapes).map(|(name, shape)| Leaf {
            layer: Layer::Lstm,
            ..leaf(&format!("lstm.{name}"), shape)
        });
        let values = initial_values(&leaves.collect::<Vec<_>>(), 7).unwrap();
        for values in &values {
            let largest = values.iter().fold(0.0f32, |m, v| m.max(v.abs()));
            assert!((0.23..=0.25).contains(&largest), "{largest}");
        }
        // In PyTorch's order, transposed.
        let raw = uniform(6400, 0.25, key(0, 0));
        assert_eq!(values[0][1], raw[100]);
        let raw = uniform(1024, 0.25, key(0, 1));
        assert_eq!(values[1][1], raw[16]);
        assert_ne!(values[2], values[3]);
    }

    #[test]
    fn embeddings_are_standard_normal() {
        let words = Leaf {
            layer: Layer::Embedding,
            ..leaf("words.weight", &[100, 50])
        };
        let values = &initial_values(&[words], 7).unwrap()[0];
        let moment = |p| values.iter().map(|v| f64::from(*v).powi(p)).sum::<f64>() / 5e3;
        assert!(moment(1).abs() < 0.05, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.06, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.5, "{}", moment(4));
    }

    /// The bound of `torch.nn.ConvTranspose2d(8, 2, 4)`: 2 · 4 · 4 inputs of a place.
    #[test]
    fn transposed_convolutions_count_their_outputs() {
        let up = [leaf("up.weight", &[8, 2, 4, 4]), leaf("up.bias", &[2])];
        let values = initial_values(&up, 7).unwrap();
        assert_eq!(values[0], uniform(256, 32f64.powf(-0.5), key(0, 0)));
    }
}
