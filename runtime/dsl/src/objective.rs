//! What models are trained for.

/// What a model is trained for: a registered loss of what it predicts and of a column. Staging asks
/// for it where an algorithm takes the model's [`loss`](crate::ClientCx::loss).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// Columns of integers that `forward` takes after `x`, three at most.
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
