//! Dropout, which does nothing in inference.

use burn::module::Module;
use burn::tensor::{Distribution, Tensor};

use crate::ForwardCx;

/// In training, zeros each element with probability `p` and scales the others by `1 / (1 − p)`, so
/// that expectations are kept; in inference, the identity. Srivastava et al. 2014,
/// <https://jmlr.org/papers/v15/srivastava14a.html>, scaled in training as in PyTorch.
///
/// The mask is a random draw of the traced graph. The executor draws it anew for every step, from a
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

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn kept_elements_are_scaled_in_training_alone() {
        let ones = Tensor::<2>::ones([100, 100], &Device::default());
        let dropout = Dropout::new(0.2);
        let values = |cx: &ForwardCx| -> Vec<f32> {
            let y = dropout.forward(ones.clone(), cx);
            y.into_data().try_to_vec().unwrap()
        };
        assert_eq!(values(&ForwardCx::inference()), [1.0; 10_000]);
        let trained = values(&ForwardCx::training());
        assert!(trained.iter().all(|&v| v == 0.0 || v == 1.25));
        let mean = trained.iter().sum::<f32>() / 1e4;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    #[should_panic(expected = "expected a probability in [0, 1), found 1")]
    fn everything_cannot_be_dropped() {
        Dropout::new(1.0);
    }
}
