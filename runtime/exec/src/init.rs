//! Initial parameters.

use fedround_data::rng;
use fedround_ir::tensor::TensorType;

/// `U(−1/√fan_in, 1/√fan_in)` for weights and biases of linear and convolutional layers (PyTorch's
/// default), from the stream `(INIT, layer, 0 | 1)` of the seed.
///
/// Values are drawn in the order `[out, in, …]`. burn keeps a linear weight as `[in, out]`, so
/// that one is transposed.
pub fn parameters(leaves: &[(String, TensorType)], seed: u64) -> Vec<Vec<f32>> {
    let (mut layer, mut fan_in, mut out) = (0, 1, Vec::with_capacity(leaves.len()));
    for (i, (name, ty)) in leaves.iter().enumerate() {
        let module = |name: &str| name.rsplit_once('.').map(|(m, _)| m.to_owned());
        let starts_layer = i == 0 || module(&leaves[i - 1].0) != module(name);
        if starts_layer && i > 0 {
            layer += 1;
        }
        let bias = !starts_layer;
        if !bias {
            fan_in = match ty.shape[..] {
                [d_in, _] => d_in,
                [_, ref rest @ ..] => rest.iter().product(),
                [] => 1,
            };
        }
        let bound = (fan_in as f64).powf(-0.5);
        let values = rng::uniform(seed, ty.len(), bound, &[rng::INIT, layer, u64::from(bias)]);
        out.push(match ty.shape[..] {
            [d_in, d_out] if !bias => transposed(&values, d_out, d_in),
            _ => values,
        });
    }
    out
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

    #[test]
    fn two_layers_draw_from_their_own_streams() {
        let leaves = [
            ("fc1.weight".to_owned(), TensorType::f32([3, 2])),
            ("fc1.bias".to_owned(), TensorType::f32([2])),
            ("fc2.weight".to_owned(), TensorType::f32([2, 1])),
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
}
