//! The results of an experiment.

use std::collections::BTreeMap;

use fedround_exec::CaptureStats;
use fedround_ir::tensor::TensorType;
use fedround_metrics::progress::Point;
use serde::{Deserialize, Serialize};

use super::round::Round;
use super::scores::Scores;
use crate::privacy::Spent;

/// Names, types and values of a model's parameters, in the model's order.
pub type Parameters = Vec<(String, TensorType, Vec<f32>)>;

/// What clients have of their own, each beside the server's model of the same round: the tensors that
/// differ from it, and those that only clients train, by the client's number. A client that uses the
/// server's model as it is has none.
pub type OwnTensors = BTreeMap<usize, Parameters>;

/// How an experiment ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// After its last round.
    #[default]
    Complete,
    /// An [observer](super::Observer) stopped it.
    Interrupted,
    /// At an error.
    Failed,
}

/// What adversaries find of a protected attribute: areas under the ROC curve on the test set, the means
/// over those of the first ten clients that have models of their own, or of the server's model. `None` where
/// one is not a number, as after steps that diverged.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AttributeAuc {
    /// The attribute's name.
    pub attribute: String,
    /// By the adversary that trained along with the model, where there is one.
    pub along: Option<f64>,
    /// By an adversary that was fitted to the final representations.
    pub auc: Option<f64>,
    /// By the label alone: what a representation tells that is of use for nothing but the label.
    #[serde(default)]
    pub floor: Option<f64>,
}

/// The best model of a run, by the accuracy on validation examples.
#[derive(Clone, Debug)]
pub struct Best {
    /// The round after which it was evaluated; the first of equal ones.
    pub round: usize,
    /// Its accuracy on validation examples.
    pub validation_accuracy: f64,
    /// Its parameters, if the best model is to be [kept](super::Keep).
    pub parameters: Parameters,
    /// What clients have of their own beside it, if it is to be kept.
    pub clients: OwnTensors,
}

/// Everything that an experiment gives.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The complete rounds, in order.
    pub history: Vec<Round>,
    /// How the last model does; `None` only if no evaluation was possible.
    pub scores: Option<Scores>,
    /// The last accuracy of each client on its own test examples, by the client's number; `None`
    /// where it has none.
    pub client_accuracy: Vec<Option<f64>>,
    /// The test accuracy of the clients' own models together, by the mean of their logits, if it was
    /// asked for.
    pub ensemble_accuracy: Option<f64>,
    /// What adversaries find of each protected attribute, if it was asked for.
    pub adversary: Vec<AttributeAuc>,
    /// The best model by its accuracy on validation examples; `None` without such examples, where
    /// nothing is chosen. What decides about the rest of a run is this and the history, so a run that
    /// goes on from a checkpoint has to have both.
    pub best: Option<Best>,
    /// The round whose evaluation reached the goal.
    pub goal_round: Option<usize>,
    /// The parameters of the global model after the last complete round.
    pub parameters: Parameters,
    /// The parameters of the clients' own models, by the client's number, if they were asked for.
    pub personal: BTreeMap<usize, Parameters>,
    /// What noise leaves of the clients' privacy: the ε and δ of each guarantee, over the complete rounds, with
    /// what they rest on. `None` of an algorithm that adds no noise to what clients tell, and until the run has
    /// ended.
    pub privacy: Option<Spent>,
    /// What became of the steps of loops over batches, where they were to be captured.
    pub capture: Option<CaptureStats>,
}

impl Report {
    /// Complete rounds.
    pub fn rounds(&self) -> usize {
        self.history.len()
    }

    /// The training loss of the last complete round; NaN before any.
    pub fn train_loss(&self) -> f64 {
        self.history.last().map_or(f64::NAN, |last| last.train_loss)
    }

    /// The last of each number that the algorithm's server keeps, by layer and name.
    pub fn server_numbers(&self) -> BTreeMap<String, f64> {
        let rounds = self.history.iter();
        rounds
            .flat_map(|round| round.server_numbers.clone())
            .collect()
    }

    /// Bytes from clients to the server, over all rounds.
    pub fn bytes_up(&self) -> u64 {
        self.history.iter().map(|round| round.bytes_up).sum()
    }

    /// Bytes from the server to clients, over all rounds.
    pub fn bytes_down(&self) -> u64 {
        self.history.iter().map(|round| round.bytes_down).sum()
    }

    /// Bytes from clients to other clients, over all rounds.
    pub fn bytes_across(&self) -> u64 {
        self.history.iter().map(|round| round.bytes_across).sum()
    }

    /// In how many rounds each client was left out because its update was not finite, by its number;
    /// only those that were.
    pub fn not_finite(&self) -> BTreeMap<usize, usize> {
        let mut rounds = BTreeMap::new();
        for client in self.history.iter().flat_map(|round| &round.not_finite) {
            *rounds.entry(*client).or_default() += 1;
        }
        rounds
    }

    /// Virtual seconds over all rounds; `None` without a clock.
    pub fn virtual_seconds(&self) -> Option<f64> {
        let rounds = self
            .history
            .iter()
            .filter_map(|round| round.virtual_seconds);
        rounds.reduce(|a, b| a + b)
    }

    /// Rounds in which too few clients were there.
    pub fn skipped(&self) -> usize {
        self.history.iter().filter(|round| round.skipped).count()
    }

    /// Whether a round trained something. Otherwise the model is the one that the run began with.
    pub fn trained(&self) -> bool {
        self.skipped() < self.rounds()
    }

    /// Local steps of all clients, over all rounds.
    pub fn client_steps(&self) -> u64 {
        self.history.iter().map(|round| round.client_steps).sum()
    }

    /// Seconds of training, without evaluation.
    pub fn seconds(&self) -> f64 {
        let rounds = self.history.iter();
        // The sum of no numbers is -0.0.
        rounds.fold(0.0, |sum, round| sum + round.seconds)
    }

    /// Local steps of all clients in a second of training; 0 before any.
    pub fn client_steps_per_second(&self) -> f64 {
        match self.seconds() {
            0.0 => 0.0,
            seconds => self.client_steps() as f64 / seconds,
        }
    }

    /// The [headline](Scores::headline) at each evaluation that has one, with the bytes of all directions
    /// until then. Where the headline is the clients' after some rounds and the server's after others, as in
    /// LG-FedAvg's phases, the curve has the evaluations whose headline is of the same models as the
    /// last one.
    pub fn accuracy_curve(&self) -> Vec<Point> {
        let of_clients = self.scores.as_ref().map(Scores::is_of_clients);
        let mut bytes = 0;
        let mut curve = vec![];
        for round in &self.history {
            bytes += round.bytes_up + round.bytes_down + round.bytes_across;
            let scores = round.scores.as_ref();
            let scores = scores.filter(|own| of_clients.is_none_or(|of| of == own.is_of_clients()));
            curve.extend(scores.and_then(Scores::headline).map(|value| Point {
                round: round.number,
                bytes,
                value,
            }));
        }
        if let ([], Some(scores)) = (&self.history[..], &self.scores) {
            curve.extend(scores.headline().map(|value| Point {
                round: 0,
                bytes,
                value,
            }));
        }
        curve
    }

    /// Without the results of evaluations: those of a run that trained nothing are the first model's.
    pub(super) fn without_scores(self) -> Self {
        let without = |round| Round {
            scores: None,
            validation_accuracy: None,
            ..round
        };
        Self {
            history: self.history.into_iter().map(without).collect(),
            scores: None,
            client_accuracy: vec![],
            ensemble_accuracy: None,
            adversary: vec![],
            best: None,
            ..self
        }
    }

    /// The largest BLEU-4 of all evaluations of a model that was trained.
    pub fn best_bleu(&self) -> Option<f64> {
        let scores = self
            .history
            .iter()
            .filter_map(|round| round.scores.as_ref());
        let trained = scores
            .chain(&self.scores)
            .filter(|scores| scores.server_trained);
        let bleu = trained.filter_map(|scores| scores.bleu);
        bleu.map(|[.., four]| four).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rounds_take_no_time() {
        assert!(Report::default().seconds().is_sign_positive());
    }
}
