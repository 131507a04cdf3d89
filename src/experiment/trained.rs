//! A run with the weights of an earlier one: evaluation and prediction without training.

use fedround_data::Examples;

use super::input_checks::{check_column, check_tokens};
use super::{ExperimentError, ModelScores, Run};

impl Run {
    /// Replaces the server's model by values in the model's order; `false`, and nothing changes, if
    /// their sizes do not fit.
    #[must_use]
    pub fn set_parameters(&mut self, values: Vec<Vec<f32>>) -> bool {
        self.simulation.set_parameters(values)
    }

    /// The server's model on the whole test set.
    ///
    /// # Errors
    ///
    /// See [`ExperimentError`].
    pub fn evaluate_model(&self) -> Result<ModelScores, ExperimentError> {
        Ok(self.tests.model(&self.simulation)?)
    }

    /// The server's model on a client's own test examples; `None` where the client has none.
    ///
    /// # Errors
    ///
    /// See [`ExperimentError`].
    pub fn evaluate_model_for(
        &self,
        client: usize,
    ) -> Result<Option<ModelScores>, ExperimentError> {
        Ok(self.tests.model_for(&self.simulation, client)?)
    }

    /// The probabilities of the classes of each example, by the server's model. Labels are not looked
    /// at; inputs are of the elements and shapes that the data's examples have.
    ///
    /// # Errors
    ///
    /// The examples have other inputs, or see [`ExperimentError`].
    pub fn predict(&self, examples: &Examples) -> Result<Vec<Vec<f64>>, ExperimentError> {
        const NAME: &str = "examples to predict";
        let (own, objective) = (&self.data.test, self.program().model().objective());
        check_column(NAME, own.x(), Some(examples.x()))?;
        for input in &objective.inputs {
            if let Some(own) = own.column(input) {
                check_column(NAME, own, examples.column(input))?;
            }
        }
        check_tokens((&self.model, &objective), &self.data, &[(NAME, examples)])?;
        let logits = self.simulation.logits(examples)?;
        let rows = logits.chunks(self.data.classes.max(1));
        Ok(rows.map(softmax).collect())
    }
}

/// Probabilities of logits.
fn softmax(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers = logits.iter().map(|z| f64::from(z - largest).exp());
    let powers: Vec<f64> = powers.collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_for_large_logits_too() {
        let found = softmax(&[1000.0, 1000.0, 0.0]);
        assert_eq!(found, [0.5, 0.5, 0.0]);
    }
}
