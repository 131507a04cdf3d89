//! Training objectives of models.

/// The training objective of a model: a registered loss of its predictions and of a column. Staging needs
/// it if an algorithm takes the model's [`loss`](crate::ClientCx::loss).
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
