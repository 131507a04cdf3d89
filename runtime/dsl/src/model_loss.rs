//! The model's own loss on a batch, which its [`Objective`](crate::Objective) names.

use crate::{Batch, ClientCx, Labels, Params, Scalar, Tensor, function, loss};

impl ClientCx {
    /// The model's own loss on a batch: the mean cross-entropy of its predictions in nats. For classifiers,
    /// the predictions are labels; for caption models, they are the next words.
    #[track_caller]
    pub fn loss(&self, w: &Params, b: &Batch) -> Scalar {
        let (objective, predicted) = (self.graph.objective(), self.predicted(w, b));
        match objective.target.as_str() {
            "y" => loss(&objective.loss, (&predicted, &b.y)),
            column => loss(&objective.loss, (&predicted, &b.labels(column))),
        }
    }

    /// The same of each example, `[examples]`: the registered function `NAME_each` of a model's loss
    /// `NAME`.
    #[track_caller]
    pub fn loss_each(&self, w: &Params, b: &Batch) -> Tensor {
        let (objective, predicted) = (self.graph.objective(), self.predicted(w, b));
        let name = format!("{}_each", objective.loss);
        match objective.target.as_str() {
            "y" => function(&name, (&predicted, &b.y)),
            column => function(&name, (&predicted, &b.labels(column))),
        }
    }

    /// The predictions of the model for a batch.
    #[track_caller]
    fn predicted(&self, w: &Params, b: &Batch) -> Tensor {
        let names = self.graph.objective().inputs.iter();
        let inputs: Vec<Labels> = names.map(|name| b.labels(name)).collect();
        match &inputs[..] {
            [] => self.forward(w, &b.x),
            [first] => self.apply("forward", w, (&b.x, first)),
            [first, second] => self.apply("forward", w, (&b.x, first, second)),
            [first, second, third, ..] => self.apply("forward", w, (&b.x, first, second, third)),
        }
    }
}
