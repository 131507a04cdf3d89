//! Initial parameters.

use fedround_data::rng;
use fedround_models::Leaf;

use crate::ops;

/// Linear and convolutional layers, whose first leaf is a weight of at least two dimensions, are
/// drawn from `U(−1/√fan_in, 1/√fan_in)` (PyTorch's default), from the stream
/// `(INIT, layer, 0 | 1)` of the seed. Other layers, such as normalisations, keep the values that
/// the model was built with.
///
/// Values are drawn in the order `[out, in, …]`. burn keeps a linear weight as `[in, out]`, so
/// that one is transposed.
pub fn parameters(leaves: &[Leaf], seed: u64) -> Vec<Vec<f32>> {
    let module = |leaf: &Leaf| leaf.name.rsplit_once('.').map(|(m, _)| m.to_owned());
    let layers = leaves.chunk_by(|a, b| module(a) == module(b));
    let values = layers.enumerate().flat_map(|(layer, leaves)| {
        let fan_in = match leaves[0].shape[..] {
            [] | [_] => None,
            [d_in, _] => Some(d_in),
            [_, ref rest @ ..] => Some(rest.iter().product()),
        };
        leaves.iter().enumerate().map(move |(i, leaf)| {
            let Some(fan_in) = fan_in.filter(|_| !leaf.buffer) else {
                return ops::values(leaf.tensor.clone());
            };
            let bound = (fan_in as f64).powf(-0.5);
            let key = [rng::INIT, layer as u64, u64::from(i > 0)];
            let values = rng::uniform(seed, leaf.shape.iter().product(), bound, &key);
            match leaf.shape[..] {
                [d_in, d_out] if i == 0 => transposed(&values, d_out, d_in),
                _ => values,
            }
        })
    });
    values.collect()
}

/// `[rows, columns]` to `[columns, rows]`.
fn transposed(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns)
        .flat_map(|c| (0..rows).map(move |r| values[r * columns + c]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, Tensor};

    fn leaf(name: &str, shape: &[usize]) -> Leaf {
        let values = Tensor::<1>::full([shape.iter().product::<usize>()], 0.5, &Device::default());
        Leaf {
            name: name.to_owned(),
            tensor: values.into_dispatch(),
            shape: shape.to_vec(),
            buffer: false,
        }
    }

    #[test]
    fn two_layers_draw_from_their_own_streams() {
        let leaves = [
            leaf("fc1.weight", &[3, 2]),
            leaf("fc1.bias", &[2]),
            leaf("fc2.weight", &[2, 1]),
        ];
        let values = parameters(&leaves, 7);
        let raw = rng::uniform(7, 6, 3f64.powf(-0.5), &[rng::INIT, 0, 0]);
        assert_eq!(values[0], [raw[0], raw[3], raw[1], raw[4], raw[2], raw[5]]);
        assert_eq!(
            values[1],
            rng::uniform(7, 2, 3f64.powf(-0.5), &[rng::INIT, 0, 1])
        );
        assert_eq!(
            values[2],
            rng::uniform(7, 2, 2f64.powf(-0.5), &[rng::INIT, 1, 0])
        );
    }

    #[test]
    fn normalisations_keep_their_values() {
        let leaves = [
            leaf("conv.weight", &[2, 1, 3, 3]),
            leaf("norm.gamma", &[2]),
            leaf("norm.beta", &[2]),
        ];
        let values = parameters(&leaves, 7);
        assert_eq!(
            values[0],
            rng::uniform(7, 18, 9f64.powf(-0.5), &[rng::INIT, 0, 0])
        );
        assert_eq!(values[1..], [[0.5, 0.5], [0.5, 0.5]]);
    }
}
