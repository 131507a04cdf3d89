//! What a program supplies to its graphs: constants, which stay on the device, and random numbers.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::Distribution;
use fedround_passes::tensor::Supply;
use fedround_random::{Stream, StreamKey, fill};

use crate::ops;

/// The inputs that [`parametrize_constants`](fedround_passes::tensor::parametrize_constants()) made of one graph.
pub(crate) struct Supplies(Vec<Input>);

enum Input {
    Constant(DispatchTensor),
    Random(Distribution, usize, Vec<usize>),
}

impl Supplies {
    pub fn new(supplies: Vec<Supply>, device: &DispatchDevice) -> Self {
        let input = |supply| match supply {
            Supply::Constant(c) => Input::Constant(ops::constant(&c, device)),
            Supply::Random {
                distribution,
                stream,
                shape,
            } => Input::Random(distribution, stream, shape),
        };
        Self(supplies.into_iter().map(input).collect())
    }

    /// Whether some are drawn.
    pub fn are_random(&self) -> bool {
        self.0.iter().any(Input::is_random)
    }

    /// The tensors of one run of the graph. Each key names the run of one client; a graph of K
    /// clients takes K. A draw has the stream that the key and its number in the graph name, so
    /// equal keys give equal numbers, alone or in a group.
    pub fn tensors<'a>(
        &'a self,
        keys: &'a [StreamKey],
        device: &'a DispatchDevice,
    ) -> impl Iterator<Item = DispatchTensor> + 'a {
        let inputs = self.0.iter();
        inputs.map(move |input| input.tensor(keys, device))
    }

    /// The random ones among them.
    pub fn draws<'a>(
        &'a self,
        keys: &'a [StreamKey],
        device: &'a DispatchDevice,
    ) -> impl Iterator<Item = DispatchTensor> + 'a {
        let random = self.0.iter().filter(|input| input.is_random());
        random.map(move |input| input.tensor(keys, device))
    }

    /// The constants in the order of the inputs, with `None` for each draw.
    pub fn constants(&self) -> impl Iterator<Item = Option<DispatchTensor>> + '_ {
        self.0.iter().map(|input| match input {
            Input::Constant(tensor) => Some(tensor.clone()),
            Input::Random(..) => None,
        })
    }
}

impl Input {
    fn is_random(&self) -> bool {
        matches!(self, Self::Random(..))
    }

    /// The constant, or what the clients that the keys name draw.
    fn tensor(&self, keys: &[StreamKey], device: &DispatchDevice) -> DispatchTensor {
        let (distribution, stream, shape) = match self {
            Self::Constant(tensor) => return tensor.clone(),
            Self::Random(distribution, stream, shape) => (*distribution, *stream, shape),
        };
        let mut values = vec![0.0; shape.iter().product()];
        let own = (values.len() / keys.len().max(1)).max(1);
        for (values, key) in values.chunks_mut(own).zip(keys) {
            draw(distribution, values, &mut key.with(stream).stream());
        }
        ops::tensor(values, shape, device)
    }
}

fn draw(distribution: Distribution, values: &mut [f32], stream: &mut Stream) {
    match distribution {
        Distribution::Uniform(low, high) => fill::uniform(values, (low, high), stream),
        Distribution::Normal(mean, std) => fill::normal(values, (mean, std), stream),
        Distribution::Bernoulli(p) => fill::bernoulli(values, p, stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(keys: &[StreamKey], clients: usize) -> Vec<f32> {
        let supply = Supply::Random {
            distribution: Distribution::Normal(0.0, 1.0),
            stream: 3,
            shape: vec![clients, 5],
        };
        let device = DispatchDevice::default();
        let supplies = Supplies::new(vec![supply], &device);
        supplies
            .tensors(keys, &device)
            .flat_map(ops::values)
            .collect()
    }

    #[test]
    fn a_client_draws_the_same_alone_and_in_a_group() {
        let [a, b] = [1, 2].map(|part| StreamKey::root(7).with(part));
        let group = noise(&[a, b], 2);
        assert_eq!(group[..5], noise(&[a], 1));
        assert_eq!(group[5..], noise(&[b], 1));
        assert_ne!(group[..5], group[5..]);
    }
}
