//! Batch normalisation, whose running statistics are buffers.

use burn::module::{Initializer, Module, Param};
use burn::tensor::{Device, Tensor};

use crate::{Buffer, ForwardCx};

/// Batch normalisation of each channel. Ioffe & Szegedy 2015, Algorithms 1 and 2,
/// <https://arxiv.org/abs/1502.03167>, with PyTorch's conventions and defaults.
///
/// In training a channel is normalised with the mean `μ` and the biased variance `σ²` of its `m`
/// elements in the batch, and the running estimates move towards `μ` and the unbiased variance:
///
/// ```text
/// y  = γ (x − μ) / √(σ² + ε) + β
/// μ̂ ← (1 − a) μ̂ + a μ
/// σ̂² ← (1 − a) σ̂² + a σ² m / (m − 1)
/// ```
///
/// In inference `μ̂` and `σ̂²` take the places of `μ` and `σ²`.
///
/// Departs from PyTorch where a channel has one element, which PyTorch refuses in training: the
/// last batch of a client may have one example. There `y = β` and `m / (m − 1)` is taken as 1.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// `γ`, `[channels]`, initially ones.
    pub gamma: Param<Tensor<1>>,
    /// `β`, `[channels]`, initially zeros.
    pub beta: Param<Tensor<1>>,
    /// `μ̂`, `[channels]`, initially zeros.
    pub running_mean: Buffer<1>,
    /// `σ̂²`, `[channels]`, initially ones.
    pub running_var: Buffer<1>,
    /// `a`: weight of a batch in the running estimates.
    pub momentum: f64,
    /// `ε`.
    pub epsilon: f64,
}

impl BatchNorm {
    /// With PyTorch's `a = 0.1` and `ε = 1e-5`.
    pub fn new(channels: usize, device: &Device) -> Self {
        Self {
            gamma: Initializer::Ones.init([channels], device),
            beta: Initializer::Zeros.init([channels], device),
            running_mean: Buffer::new(Tensor::zeros([channels], device)),
            running_var: Buffer::new(Tensor::ones([channels], device)),
            momentum: 0.1,
            epsilon: 1e-5,
        }
    }

    /// Normalises a batch.
    ///
    /// # Shapes
    ///
    /// - `x`: `[batch, channels, ..]`
    /// - output: the same
    pub fn forward<const D: usize>(&self, x: Tensor<D>, cx: &ForwardCx) -> Tensor<D> {
        let shape = x.dims();
        let [batch, channels] = [shape[0], shape[1]];
        let mut per_channel = [1; D];
        per_channel[1] = channels;
        // The rest of the dimensions are one here, and one reduction.
        let elements = shape[2..].iter().product::<usize>();
        let mean_of = |x: Tensor<D>| -> Tensor<D> {
            let flat: Tensor<3> = x.reshape([batch, channels, elements]);
            flat.mean_dim(2).mean_dim(0).reshape(per_channel)
        };
        let (centered, var) = if cx.is_training() {
            let mean = mean_of(x.clone());
            let centered = x - mean.clone();
            let var = mean_of(centered.clone() * centered.clone());
            let m = (batch * elements) as f64;
            let unbiased = var.clone() * (m / (m - 1.0).max(1.0));
            self.follow(&self.running_mean, mean, cx);
            self.follow(&self.running_var, unbiased, cx);
            (centered, var)
        } else {
            let [mean, var] = [&self.running_mean, &self.running_var]
                .map(|buffer| cx.value(buffer).reshape(per_channel));
            (x - mean, var)
        };
        let scale = self.gamma.val().reshape(per_channel) / (var + self.epsilon).sqrt();
        centered * scale + self.beta.val().reshape(per_channel)
    }

    /// Moves a running estimate towards a batch's.
    fn follow<const D: usize>(&self, running: &Buffer<1>, batch: Tensor<D>, cx: &ForwardCx) {
        let [channels] = self.gamma.dims();
        let batch: Tensor<1> = batch.reshape([channels]);
        let kept = cx.value(running) * (1.0 - self.momentum);
        cx.update(running, kept + batch * self.momentum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Function, Model, Network};

    fn values<const D: usize>(x: Tensor<D>) -> Vec<f32> {
        x.into_data().try_to_vec().unwrap()
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (x, y) in found.iter().zip(expected) {
            assert!((x - y).abs() < 1e-5, "{found:?}, expected {expected:?}");
        }
    }

    #[test]
    fn channels_are_normalised_one_by_one() {
        let device = Device::default();
        let norm = BatchNorm::new(2, &device);
        let x = [[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]];
        let cx = ForwardCx::training();
        let y = values(norm.forward(Tensor::<2>::from_floats(x, &device), &cx));
        // Means 3 and 20, biased variances 8/3 and 200.
        let (a, b) = (2.0 / (8.0f32 / 3.0).sqrt(), 10.0 / 200f32.sqrt());
        assert_close(&y, &[-a, -b, 0.0, -b, a, 2.0 * b]);
        // Unbiased variances 4 and 300.
        assert_close(&values(cx.value(&norm.running_mean)), &[0.3, 2.0]);
        assert_close(&values(cx.value(&norm.running_var)), &[1.3, 30.9]);
        // The module itself is as it was.
        let cx = ForwardCx::inference();
        assert_close(&values(cx.value(&norm.running_mean)), &[0.0, 0.0]);
    }

    #[test]
    fn a_layer_that_runs_twice_updates_twice() {
        let device = Device::default();
        let norm = BatchNorm::new(1, &device);
        let cx = ForwardCx::training();
        let x = Tensor::<2>::from_floats([[1.0], [3.0]], &device);
        let y = norm.forward(x.clone(), &cx);
        norm.forward(x, &cx);
        assert_close(&values(y), &[-1.0, 1.0]);
        assert_close(&values(cx.value(&norm.running_mean)), &[0.38]);
    }

    #[derive(Module, Debug)]
    struct Twice {
        first: BatchNorm,
        second: BatchNorm,
    }

    impl Network for Twice {
        fn functions() -> Vec<Function<Self>> {
            let forward = |this: &Self, x: Tensor<2>, cx: &ForwardCx| {
                this.second.forward(this.first.forward(x, cx) + 5.0, cx)
            };
            vec![Function::new("forward", forward)]
        }
    }

    /// A clone of a layer has the ids of its parameters.
    #[test]
    fn clones_have_statistics_of_their_own() {
        let device = Device::default();
        let first = BatchNorm::new(1, &device);
        let second = first.clone();
        let x = Tensor::<2>::from_floats([[1.0], [3.0]], &device);
        let model: &dyn Model = &Twice { first, second };
        let output = model.call("forward", &[x.into()], &ForwardCx::training());
        let buffers = output.unwrap().buffers.into_iter();
        let means: Vec<f32> = buffers
            .step_by(2)
            .flat_map(|mean| values(Tensor::<1>::from_dispatch(mean)))
            .collect();
        assert_close(&means, &[0.2, 0.5]);
    }

    #[test]
    fn one_element_is_its_own_mean() {
        let device = Device::default();
        let norm = BatchNorm::new(1, &device);
        let cx = ForwardCx::training();
        let y = norm.forward(Tensor::<2>::from_floats([[7.0]], &device), &cx);
        assert_eq!(values(y), [0.0]);
        assert_close(&values(cx.value(&norm.running_mean)), &[0.7]);
        assert_close(&values(cx.value(&norm.running_var)), &[0.9]);
    }
}
