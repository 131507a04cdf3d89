//! Losses: functions from logits and labels to one scalar. What a loss treats as a constant goes
//! through [`stop_gradient`](crate::stop_gradient).

use std::collections::BTreeMap;

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor};

/// A loss: logits `[batch, classes]` and labels `[batch]` to a scalar `[1]`.
pub type Loss = fn(Tensor<2>, Tensor<1, Int>) -> Tensor<1>;

/// `−1/n Σ ln softmax(z)[y]`: mean over the batch, in nats.
///
/// # Shapes
///
/// - `logits`: `[batch, classes]`
/// - `labels`: `[batch]`, each in `0..classes`
/// - output: `[1]`
pub fn cross_entropy(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    log_softmax(logits, 1)
        .gather(1, labels.reshape([batch, 1]))
        .mean()
        .neg()
}

/// No loss is registered under a name.
#[derive(Clone, Debug, thiserror::Error)]
#[error("unknown loss `{name}`; registered are {known}")]
pub struct UnknownLoss {
    name: String,
    known: String,
}

/// The losses that specs may name.
#[derive(Clone, Debug)]
pub struct Losses(BTreeMap<&'static str, Loss>);

impl Default for Losses {
    fn default() -> Self {
        Self(BTreeMap::new()).with("cross_entropy", cross_entropy)
    }
}

impl Losses {
    /// Adds a loss, which a spec then calls with `loss("name", logits, labels)`.
    #[must_use]
    pub fn with(mut self, name: &'static str, loss: Loss) -> Self {
        self.0.insert(name, loss);
        self
    }

    /// The loss of a name.
    ///
    /// # Errors
    ///
    /// No loss has that name.
    pub fn get(&self, name: &str) -> Result<Loss, UnknownLoss> {
        self.0.get(name).copied().ok_or_else(|| UnknownLoss {
            name: name.to_owned(),
            known: self.0.keys().copied().collect::<Vec<_>>().join(", "),
        })
    }
}
