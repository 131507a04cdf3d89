//! A round of a run, as a line of `metrics.jsonl` tells it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::run::Models;

/// The accuracy of clients on their own test examples.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Local {
    pub mean: f64,
}

/// How a model does on the test examples of a client or a domain.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Score {
    pub accuracy: Option<f64>,
    pub loss: Option<f64>,
}

/// A round. Numbers that are not finite are absent.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Line {
    pub round: usize,
    /// The phase's name, if the algorithm has several phases.
    pub phase: Option<String>,
    pub train_loss: Option<f64>,
    /// Accuracy of the models that the algorithm trains.
    pub accuracy: Option<f64>,
    /// Whose models `accuracy` is of; older files do not say it.
    pub accuracy_of: Option<Models>,
    /// Loss of the server's model on the test set.
    pub test_loss: Option<f64>,
    /// Accuracy of the server's model on the test set.
    pub test_accuracy: Option<f64>,
    /// Accuracy for each class, if the server's model was evaluated.
    pub class_accuracy: Option<Vec<Option<f64>>>,
    /// Accuracy over the clients' own test examples.
    pub local_accuracy: Option<Local>,
    /// The same for the algorithm's named evaluations, by name.
    #[serde(default)]
    pub evaluations: BTreeMap<String, Local>,
    /// Accuracy and loss of each client, with `--track-clients`.
    #[serde(default)]
    pub clients: BTreeMap<usize, Score>,
    /// Accuracy and loss on each domain's test examples, with `--track-clients`.
    #[serde(default)]
    pub domains: BTreeMap<String, Score>,
    pub validation_accuracy: Option<f64>,
    /// BLEU-1 to BLEU-4, if the model describes images.
    pub test_bleu: Option<[Option<f64>; 4]>,
    /// VQA accuracy, if the model answers questions.
    pub test_vqa_accuracy: Option<f64>,
    /// Perplexity, if the model predicts next characters.
    pub test_perplexity: Option<f64>,
    /// Area under the ROC curve of the second of two classes, on the test set.
    pub test_auc: Option<f64>,
    /// The same over the clients' own test examples.
    pub local_auc: Option<Local>,
    /// Seconds on the virtual clock, if there is one.
    pub virtual_seconds: Option<f64>,
    pub bytes_up: u64,
    pub bytes_down: u64,
    #[serde(default)]
    pub bytes_across: u64,
    /// How long training took.
    #[serde(default)]
    pub seconds: f64,
    /// Bytes in all directions, of this round and of all rounds before it.
    #[serde(skip)]
    pub bytes: u64,
}

impl Line {
    /// The bytes of all directions.
    pub fn sent(&self) -> u64 {
        self.bytes_up + self.bytes_down + self.bytes_across
    }

    /// Whether the models were tested after the round.
    pub fn is_evaluated(&self) -> bool {
        self.accuracy.or(self.validation_accuracy).is_some()
    }

    /// The accuracy of what the algorithm trains, if it is of these models.
    pub fn accuracy_as(&self, of: Models) -> Option<f64> {
        self.accuracy
            .filter(|_| self.accuracy_of.is_none_or(|own| own == of))
    }

    /// The mean over clients of the loss on their own test examples; `None` unless all of them are known.
    pub fn client_loss(&self) -> Option<f64> {
        let losses = self.clients.values().map(|score| score.loss);
        let losses: Vec<f64> = losses.collect::<Option<_>>()?;
        (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_of_clients_is_the_mean_of_all_or_none() {
        let line = |clients: &str| -> Line {
            let text = format!(
                r#"{{"round": 1, "bytes_up": 0, "bytes_down": 0, "clients": {{{clients}}}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let (one, two) = (
            r#""0": {"accuracy": 0.5, "loss": 1.0}"#,
            r#""7": {"accuracy": 0.5, "loss": 3.0}"#,
        );
        assert_eq!(line(&format!("{one}, {two}")).client_loss(), Some(2.0));
        let diverged = r#""8": {"accuracy": 0.1, "loss": null}"#;
        assert_eq!(line(&format!("{one}, {diverged}")).client_loss(), None);
        assert_eq!(line("").client_loss(), None);
    }
}
