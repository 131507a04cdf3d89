//! The networks of FADA. Peng et al. 2020, "Federated Adversarial Domain Adaptation",
//! <https://arxiv.org/abs/1911.02054>.

use burn::module::Module;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::layers::Mlp;
use crate::{ForwardCx, Function, Network};

/// The disentangler `D`: from a representation to what all domains have in common and what is this
/// domain's own, each by two layers with ReLUs.
///
/// Departs: widths are those of the representation, without normalisation.
#[derive(Module, Debug)]
pub struct Disentangler {
    /// To the domain-invariant half.
    pub invariant: Mlp,
    /// To the domain-specific half.
    pub specific: Mlp,
}

impl Disentangler {
    /// The network for representations of a size. Each of its halves gives as many numbers.
    pub fn new(features: usize, device: &Device) -> Self {
        let half = || Mlp::new(&[features; 3], device);
        Self {
            invariant: half(),
            specific: half(),
        }
    }

    /// Both halves.
    ///
    /// # Shapes
    ///
    /// - `h`: `[batch, features]`
    /// - output: `[batch, 2 · features]`, the invariant half first
    pub fn disentangle(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        let halves = [&self.invariant, &self.specific];
        Tensor::cat(
            halves.map(|half| relu(half.forward(h.clone(), cx))).into(),
            1,
        )
    }
}

impl Network for Disentangler {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("disentangle", Self::disentangle)]
    }
}

/// The statistics network `T` of a neural estimate of mutual information: Belghazi et al. 2018
/// (MINE), as FADA uses it between the halves of a representation.
///
/// Departs: one hidden layer of 512 over both, side by side.
#[derive(Module, Debug)]
pub struct MutualInformation {
    /// `2 · features`, 512, 1.
    pub mlp: Mlp,
}

impl MutualInformation {
    /// Between two rows of a size.
    pub fn new(features: usize, device: &Device) -> Self {
        Self {
            mlp: Mlp::new(&[2 * features, 512, 1], device),
        }
    }

    /// `T(a, b)` of each pair of rows.
    ///
    /// # Shapes
    ///
    /// - `a`, `b`: `[batch, features]`
    /// - output: `[batch, 1]`
    pub fn compare(&self, a: Tensor<2>, b: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        self.mlp.forward(Tensor::cat(vec![a, b], 1), cx)
    }
}

impl Network for MutualInformation {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("compare", Self::compare)]
    }
}
