//! The line that a run writes for each round to `metrics.jsonl`.

use std::collections::BTreeMap;

use fedround::experiment::{ClientScore, Round, Scores};
use fedround::privacy;
use fedround_metrics::clients::ClientSummary;
use serde::{Deserialize, Serialize};

/// Whose models a number is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Models {
    /// The one of the server.
    #[default]
    Server,
    /// The clients' own.
    Clients,
}

impl Models {
    /// The models that the headline accuracy of these scores is of, or would be of if there were test examples.
    pub fn of(scores: &Scores) -> Self {
        match scores.is_of_clients() {
            true => Self::Clients,
            false => Self::Server,
        }
    }
}

/// A line of `metrics.jsonl`. Numbers that are not finite are written as `null`.
#[derive(Debug, Serialize)]
pub(super) struct Metric {
    pub round: usize,
    /// The phase's name, if the algorithm has several phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The mean of the local steps' losses; `null` where no loss is minimised, as in phases that only
    /// share something.
    pub train_loss: f64,
    /// Accuracy of the models that the algorithm trains: the mean over the clients' own models, or that of the
    /// server's model; `null` where nothing tests them.
    pub accuracy: Option<f64>,
    /// Which of the two `accuracy` is; `null` like it.
    pub accuracy_of: Option<Models>,
    /// Loss of the server's model on the test set; `null` unless all of the model was trained.
    pub test_loss: Option<f64>,
    /// Accuracy of the server's model on the test set; `null` like `test_loss`.
    pub test_accuracy: Option<f64>,
    /// Accuracy on the validation examples, which clients hold back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
    /// Accuracy of the server's model for each class, in order; `null` for a class without test examples.
    pub class_accuracy: Option<Vec<f64>>,
    /// Accuracy over the clients' own test examples.
    pub local_accuracy: Option<ClientSummary>,
    /// The same for the algorithm's named evaluations, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evaluations: BTreeMap<String, ClientSummary>,
    /// Accuracy and loss of each client on its own test examples, with `--track-clients`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub clients: BTreeMap<usize, ClientScore>,
    /// Accuracy and loss on each domain's test examples.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub domains: BTreeMap<String, ClientScore>,
    /// Clients whose own models could not be evaluated, because their party was away or failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_evaluated: Vec<usize>,
    /// Accuracy of the late client on its own examples, once it has joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newcomer_accuracy: Option<f64>,
    /// BLEU-1 to BLEU-4 of the server's model for the test images, if it writes captions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_bleu: Option<[f64; 4]>,
    /// VQA accuracy over all test questions, if the model answers questions; clients' own models answer together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_vqa_accuracy: Option<f64>,
    /// Perplexity of the server's model on the test set, if it predicts next characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_perplexity: Option<f64>,
    /// Area under the ROC curve of the server's model on the test set, if there are two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_auc: Option<f64>,
    /// The same over the clients' own test examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_auc: Option<ClientSummary>,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Bytes sent from clients to other clients.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_across: u64,
    /// The mean squared distance of clients' own models from their mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consensus: Option<f64>,
    /// The numbers that the algorithm's server keeps, by layer and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub server: BTreeMap<String, f64>,
    /// Clients that were left out because their updates were not finite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_finite: Vec<usize>,
    /// Clients that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<usize>,
    /// Clients that missed the deadline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<usize>,
    /// Clients that were called in addition, and were not among the fastest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub surplus: Vec<usize>,
    /// Seconds on the virtual clock until the server had all that it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_seconds: Option<f64>,
    /// Whether too few clients were there, so that the model is the one before the round.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Privacy spent so far by noised messages of clients; `epsilon` is `null` if no bound is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Spent>,
    /// Seconds of training, without evaluation.
    pub seconds: f64,
}

pub(super) fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// A bound on privacy.
#[derive(Debug, Serialize)]
pub(super) struct Spent {
    pub epsilon: Option<f64>,
    pub delta: f64,
}

impl Metric {
    pub fn of(round: &Round, phase: Option<String>, privacy: Option<&privacy::Spent>) -> Self {
        let scores = round.scores.as_ref();
        let each = scores.and_then(|scores| scores.each.clone());
        let each = each.unwrap_or_default();
        let server = scores.filter(|scores| scores.server_trained);
        Self {
            round: round.number,
            phase,
            train_loss: round.train_loss,
            accuracy: scores.and_then(Scores::headline),
            accuracy_of: scores.and_then(|s| s.headline().map(|_| Models::of(s))),
            test_loss: server.map(|s| s.loss),
            test_accuracy: server.map(|s| s.accuracy),
            validation_accuracy: round.validation_accuracy,
            class_accuracy: server.map(|s| s.class_accuracy.clone()),
            local_accuracy: scores.and_then(|s| s.local),
            evaluations: scores.map(|s| s.evaluations.clone()).unwrap_or_default(),
            clients: each.clients,
            domains: each.domains,
            not_evaluated: scores.map(|s| s.missing.clone()).unwrap_or_default(),
            newcomer_accuracy: scores.and_then(|s| s.late_client),
            test_bleu: server.and_then(|s| s.bleu),
            test_vqa_accuracy: scores.and_then(|s| s.vqa_accuracy),
            test_perplexity: server.and_then(|s| s.perplexity),
            test_auc: server.and_then(|s| s.auc),
            local_auc: scores.and_then(|s| s.local_auc),
            bytes_up: round.bytes_up,
            bytes_down: round.bytes_down,
            bytes_across: round.bytes_across,
            consensus: round.consensus,
            server: round.server_numbers.clone(),
            not_finite: round.not_finite.clone(),
            failed: round.failed.clone(),
            late: round.late.clone(),
            surplus: round.surplus.clone(),
            virtual_seconds: round.virtual_seconds,
            skipped: round.skipped,
            privacy: privacy.map(|spent| Spent {
                epsilon: spent.epsilon,
                delta: spent.delta,
            }),
            seconds: round.seconds,
        }
    }
}
