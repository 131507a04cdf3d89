//! Batch normalisation.

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
