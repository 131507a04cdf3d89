//! Supplies the inputs of a segment that come from the program itself: constants, which stay on the device,
//! and random numbers, which are drawn anew for each run.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::Distribution;
use fedround_passes::tensor::InputSource;
use fedround_random::{NoiseKey, StreamKey, fill, noise};

use crate::tensor::{constant, from_floats};

/// The constants and random ops of one graph, which the pass
/// [`parametrize_constants`](fedround_passes::tensor::parametrize_constants()) turned into inputs.
pub struct SegmentInputs(Vec<Input>);

enum Input {
    Constant(DispatchTensor),
    Random(RandomInput),
}

/// A random op of the graph.
struct RandomInput {
    distribution: Distribution,
    /// The number of the random op in the graph, which names its stream.
    stream: usize,
    /// The shape of the drawn tensor, with the client axis if the graph has one.
    shape: Vec<usize>,
}

impl SegmentInputs {
    /// Copies the constants to the device. Random inputs are drawn later, by [`tensors`](Self::tensors).
    pub fn new(sources: Vec<InputSource>, device: &DispatchDevice) -> Self {
        let input = |source| match source {
            InputSource::Constant(c) => Input::Constant(constant(&c, device)),
            InputSource::Random {
                distribution,
                stream,
                shape,
            } => Input::Random(RandomInput {
                distribution,
                stream,
                shape,
            }),
        };
        Self(sources.into_iter().map(input).collect())
    }

    /// Whether an input is random.
    pub fn are_random(&self) -> bool {
        self.0.iter().any(Input::is_random)
    }

    /// The input tensors for one run of the graph. Each key names the run of one client, so a graph of K
    /// clients takes K keys. The key and the number of the random op name the random stream, so a client
    /// draws the same numbers alone and in a group. Noise of differential privacy is drawn with the key
    /// `secret`, if there is one.
    pub fn tensors<'a>(
        &'a self,
        keys: &'a [StreamKey],
        secret: Option<&'a NoiseKey>,
        device: &'a DispatchDevice,
    ) -> impl Iterator<Item = DispatchTensor> + 'a {
        let inputs = self.0.iter();
        inputs.map(move |input| input.tensor(keys, secret, device))
    }

    /// Only the random inputs of [`tensors`](Self::tensors), drawn for one run.
    pub fn draws<'a>(
        &'a self,
        keys: &'a [StreamKey],
        secret: Option<&'a NoiseKey>,
        device: &'a DispatchDevice,
    ) -> impl Iterator<Item = DispatchTensor> + 'a {
        let random = self.0.iter().filter(|input| input.is_random());
        random.map(move |input| input.tensor(keys, secret, device))
    }

    /// The constants in the order of the inputs, with `None` in the place of each random input.
    pub fn constants(&self) -> impl Iterator<Item = Option<DispatchTensor>> + '_ {
        self.0.iter().map(|input| match input {
            Input::Constant(tensor) => Some(tensor.clone()),
            Input::Random(_) => None,
        })
    }
}

impl Input {
    fn is_random(&self) -> bool {
        matches!(self, Self::Random(_))
    }

    /// The constant, or newly drawn numbers: an equal part of the tensor for each client's key.
    fn tensor(
        &self,
        keys: &[StreamKey],
        secret: Option<&NoiseKey>,
        device: &DispatchDevice,
    ) -> DispatchTensor {
        let random = match self {
            Self::Constant(tensor) => return tensor.clone(),
            Self::Random(random) => random,
        };
        let mut values = vec![0.0; random.shape.iter().product()];
        let per_client = (values.len() / keys.len().max(1)).max(1);
        for (values, key) in values.chunks_mut(per_client).zip(keys) {
            draw(random.distribution, values, key.with(random.stream), secret);
        }
        from_floats(values, &random.shape, device)
    }
}

fn draw(distribution: Distribution, values: &mut [f32], key: StreamKey, secret: Option<&NoiseKey>) {
    let stream = &mut key.stream();
    match distribution {
        Distribution::Uniform(low, high) => fill::uniform(values, (low, high), stream),
        Distribution::Normal(mean, std) => fill::normal(values, (mean, std), stream),
        Distribution::Bernoulli(p) => fill::bernoulli(values, p, stream),
        Distribution::GaussianNoise => noise::gaussian(values, &mut noise::words(key, secret)),
        Distribution::LaplaceNoise => noise::laplace(values, &mut noise::words(key, secret)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(keys: &[StreamKey], clients: usize, secret: Option<&NoiseKey>) -> Vec<f32> {
        let source = InputSource::Random {
            distribution: Distribution::GaussianNoise,
            stream: 3,
            shape: vec![clients, 5],
        };
        let device = DispatchDevice::default();
        let inputs = SegmentInputs::new(vec![source], &device);
        inputs
            .tensors(keys, secret, &device)
            .flat_map(|t| crate::tensor::read(t).unwrap())
            .collect()
    }

    #[test]
    fn a_client_draws_the_same_alone_and_in_a_group() {
        let [a, b] = [1, 2].map(|part| StreamKey::root(7).with(part));
        let secret = NoiseKey::from_system().unwrap();
        for secret in [None, Some(&secret)] {
            let group = noise(&[a, b], 2, secret);
            assert_eq!(group[..5], noise(&[a], 1, secret));
            assert_eq!(group[5..], noise(&[b], 1, secret));
            assert_ne!(group[..5], group[5..]);
        }
        assert_ne!(noise(&[a], 1, None), noise(&[a], 1, Some(&secret)));
    }
}
