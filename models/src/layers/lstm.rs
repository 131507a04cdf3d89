//! A long short-term memory (LSTM) network.

use burn::module::{Initializer, Module, Param};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};

/// One layer of long short-term memory. Hochreiter & Schmidhuber 1997, with forget gates and with
/// PyTorch's order of gates, names and two biases:
///
/// ```text
/// i, f, g, o = x W_ih + b_ih + h W_hh + b_hh
/// c ← σ(f) c + σ(i) tanh(g)
/// h ← σ(o) tanh(c)
/// ```
///
/// burn's `Lstm` has eight matrix products in a step, and writes each step into the whole sequence.
/// Here a step has one, the inputs of all steps share another, and PyTorch's weights are leaves as
/// they are, transposed.
#[derive(Module, Debug)]
pub struct Lstm {
    /// `[d_in, 4 · units]`.
    pub weight_ih: Param<Tensor<2>>,
    /// `[units, 4 · units]`.
    pub weight_hh: Param<Tensor<2>>,
    /// `[4 · units]`.
    pub bias_ih: Param<Tensor<1>>,
    /// `[4 · units]`.
    pub bias_hh: Param<Tensor<1>>,
}

/// What a layer remembers between steps.
#[derive(Clone, Debug)]
pub struct LstmState {
    /// `h`: `[batch, units]`, the layer's output.
    pub hidden: Tensor<2>,
    /// `c`: `[batch, units]`.
    pub cell: Tensor<2>,
}

impl LstmState {
    /// The state before the first step: zeros.
    pub fn zeros(batch: usize, units: usize, device: &Device) -> Self {
        let zeros = Tensor::zeros([batch, units], device);
        Self {
            hidden: zeros.clone(),
            cell: zeros,
        }
    }
}

impl Lstm {
    /// From inputs of `d_in` numbers to states of `units`.
    pub fn new(d_in: usize, units: usize, device: &Device) -> Self {
        let zeros = Initializer::Zeros;
        Self {
            weight_ih: zeros.init([d_in, 4 * units], device),
            weight_hh: zeros.init([units, 4 * units], device),
            bias_ih: zeros.init([4 * units], device),
            bias_hh: zeros.init([4 * units], device),
        }
    }

    /// The state after one more input.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, d_in]`
    pub fn step(&self, x: Tensor<2>, state: LstmState) -> LstmState {
        self.advance(self.gates(x), state)
    }

    /// The layer over whole sequences: its output at each step.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, steps, d_in]`
    /// - output: `[batch, steps, units]` and the last state
    pub fn forward(&self, x: Tensor<3>, state: LstmState) -> (Tensor<3>, LstmState) {
        let [batch, steps, d_in] = x.dims();
        let [units, gates] = self.weight_hh.dims();
        let gates: Tensor<3> = self
            .gates(x.reshape([batch * steps, d_in]))
            .reshape([batch, steps, gates]);
        let mut state = state;
        let mut outputs = Vec::with_capacity(steps);
        for t in 0..steps {
            let [_, _, width] = gates.dims();
            let at: Tensor<2> = gates.clone().narrow(1, t, 1).reshape([batch, width]);
            state = self.advance(at, state);
            outputs.push(state.hidden.clone().reshape([batch, 1, units]));
        }
        (Tensor::cat(outputs, 1), state)
    }

    /// The inputs' part of the gates, with its bias.
    fn gates(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight_ih.val()) + self.bias_ih.val().unsqueeze()
    }

    fn advance(&self, from_input: Tensor<2>, state: LstmState) -> LstmState {
        let from_state = state.hidden.matmul(self.weight_hh.val()) + self.bias_hh.val().unsqueeze();
        let [i, f, g, o] = quarters(from_input + from_state);
        let cell = sigmoid(f) * state.cell + sigmoid(i) * g.tanh();
        LstmState {
            hidden: sigmoid(o) * cell.clone().tanh(),
            cell,
        }
    }
}

/// Four parts of equal width.
fn quarters(x: Tensor<2>) -> [Tensor<2>; 4] {
    let units = x.dims()[1] / 4;
    [0, 1, 2, 3].map(|i| x.clone().narrow(1, i * units, units))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;

    /// `0.7 cos(k i)` for the `i`-th element.
    fn waves<const D: usize>(shape: [usize; D], k: f32) -> Param<Tensor<D>> {
        let n: usize = shape.iter().product();
        let values: Vec<f32> = (0..n).map(|i| 0.7 * (k * i as f32).cos()).collect();
        let data = TensorData::new(values, shape);
        Param::initialized(
            burn::module::ParamId::new(),
            Tensor::from_data(data, &Device::default()),
        )
    }

    fn lstm() -> Lstm {
        Lstm {
            weight_ih: waves([2, 8], 1.0),
            weight_hh: waves([2, 8], 2.0),
            bias_ih: waves([8], 3.0),
            bias_hh: waves([8], 5.0),
        }
    }

    /// Values of `torch.nn.LSTM` with the same weights, transposed.
    #[test]
    fn sequences_are_as_in_pytorch() {
        let device = Device::default();
        let x = Tensor::<3>::from_floats([[[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0]]], &device);
        let (outputs, last) = lstm().forward(x, LstmState::zeros(1, 2, &device));
        let outputs: Vec<f32> = outputs.into_data().try_to_vec().unwrap();
        let expected = [
            0.033_969_786,
            -0.091_326_35,
            0.240_674_8,
            0.086_125_4,
            0.373_530_57,
            0.013_463_293,
        ];
        for (found, expected) in outputs.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{outputs:?}");
        }
        let cell: Vec<f32> = last.cell.into_data().try_to_vec().unwrap();
        assert!((cell[0] - 0.756_404_2).abs() < 1e-6, "{cell:?}");
    }

    #[test]
    fn a_sequence_is_its_steps() {
        let device = Device::default();
        let x = Tensor::<3>::from_floats([[[0.5, -1.0], [1.5, 0.25]]], &device);
        let (_, last) = lstm().forward(x.clone(), LstmState::zeros(1, 2, &device));
        let mut state = LstmState::zeros(1, 2, &device);
        for t in 0..2 {
            let at: Tensor<2> = x.clone().narrow(1, t, 1).reshape([1, 2]);
            state = lstm().step(at, state);
        }
        let values = |t: Tensor<2>| -> Vec<f32> { t.into_data().try_to_vec().unwrap() };
        assert_eq!(values(state.hidden), values(last.hidden));
        assert_eq!(values(state.cell), values(last.cell));
    }
}
