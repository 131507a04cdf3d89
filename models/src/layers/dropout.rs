//! Dropout.

use burn::module::Module;
use burn::tensor::{Distribution, Tensor};

use crate::ForwardCx;

/// In training, zeros each element with probability `p` and scales the others by `1 / (1 − p)`, so
/// that expectations are kept; in inference, the identity. Srivastava et al. 2014,
/// <https://jmlr.org/papers/v15/srivastava14a.html>, scaled in training as in PyTorch.
///
/// The mask is a random draw of the traced graph. The engine draws it anew for every step, from a
/// stream that the seed, round, client and step name.
#[derive(Module, Debug)]
pub struct Dropout {
    p: f64,
}

impl Dropout {
    /// Zeros elements with probability `p`.
    ///
    /// # Panics
    ///
    /// `p` is not in `[0, 1)`.
    pub fn new(p: f64) -> Self {
        assert!(
            (0.0..1.0).contains(&p),
            "dropout: expected a probability in [0, 1), found {p}"
        );
        Self { p }
    }

    /// Drops elements of a tensor of any shape.
    pub fn forward<const D: usize>(&self, x: Tensor<D>, cx: &ForwardCx) -> Tensor<D> {
        if !cx.is_training() || self.p == 0.0 {
            return x;
        }
        let keep = 1.0 - self.p;
        let mask = Tensor::random(x.dims(), Distribution::Bernoulli(keep), &x.device());
        x * (mask * (1.0 / keep))
    }
}
