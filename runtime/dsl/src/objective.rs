//! What models are trained for.

use crate::{Batch, ClientCx, Labels, Params, Scalar, loss};

/// What a model is trained for: a registered loss of what it predicts and of a column. Staging asks
/// for it where an algorithm takes the model's [`loss`](ClientCx::loss).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// Columns of integers that `predict` takes after `x`, three at most.
    pub inputs: Vec<String>,
    /// The loss.
    pub loss: String,
    /// The column that predictions are compared with; `y` for the labels.
    pub target: String,
}

impl Default for Objective {
    /// Classification: cross-entropy of the labels.
    fn default() -> Self {
        Self {
            inputs: vec![],
            loss: "cross_entropy".to_owned(),
            target: "y".to_owned(),
        }
    }
}

impl ClientCx {
    /// The model's own loss on a batch, what it is trained for: mean cross-entropy of its predictions
    /// in nats, of the labels for classifiers, of every next word for models of captions.
    #[track_caller]
    pub fn loss(&self, w: &Params, b: &Batch) -> Scalar {
        let objective = self.graph.objective();
        let inputs: Vec<Labels> = objective.inputs.iter().map(|name| b.labels(name)).collect();
        let predicted = match &inputs[..] {
            [] => self.predict(w, &b.x),
            [first] => self.apply("predict", w, (&b.x, first)),
            [first, second] => self.apply("predict", w, (&b.x, first, second)),
            [first, second, third, ..] => self.apply("predict", w, (&b.x, first, second, third)),
        };
        match objective.target.as_str() {
            "y" => loss(&objective.loss, (&predicted, &b.y)),
            column => loss(&objective.loss, (&predicted, &b.labels(column))),
        }
    }
}
