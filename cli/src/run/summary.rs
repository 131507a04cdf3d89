//! The summary of a finished run, as it stands in `summary.json`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fedround::Auxiliaries;
use fedround::experiment::{AttributeAuc, ExperimentError, Keep, Report, Run, Scores, Status};
use fedround_metrics::clients::ClientSummary;
use fedround_metrics::progress::{best, first_to_reach};
use fedround_models::Train;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::capture_summary::CaptureSummary;
use super::fault_counts::FaultCounts;
use super::metric::is_zero;
use super::phases::not_begun;
use super::privacy_spent::{Federation, PrivacySpent, privacy_spent};
use crate::config::Config;
use crate::privacy_bound::Missed;
use crate::settings::Settings;
use crate::weights::LoadedWeights;

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

/// `summary.json`.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub status: Status,
    /// Why it failed.
    pub error: Option<String>,
    pub spec: String,
    pub hyper: toml::Table,
    pub model: String,
    /// Auxiliary networks beside the model, with their variants.
    #[serde(skip_serializing_if = "Auxiliaries::is_empty")]
    pub aux: Auxiliaries,
    /// Those that train.
    pub parameters: usize,
    /// What of the model trains, if not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<String>,
    /// What it took from a file of weights, if it starts from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<LoadedWeights>,
    pub data: String,
    pub partition: String,
    pub clients: usize,
    pub seed: u64,
    pub threads: usize,
    /// Completed.
    pub rounds: usize,
    /// Whether one of them trained something.
    #[serde(skip)]
    pub trained: bool,
    /// The round in which the algorithm begins to train its model, if the run ended in an earlier phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_begins: Option<usize>,
    pub train_loss: f64,
    /// Of what the algorithm trains: the mean over clients of their own models on their own test
    /// examples, or that of the server's model on the test set.
    pub accuracy: f64,
    /// Which of the two it is.
    pub accuracy_of: Models,
    /// The largest of all evaluations. It is found on test examples themselves, so it is no choice of
    /// a model and no estimate of what one does on new data.
    pub best_accuracy: Option<f64>,
    /// After which it was first there.
    pub best_round: Option<usize>,
    /// Of the server's model, like the two below; `null` where nobody trained all of it.
    pub test_loss: Option<f64>,
    pub test_accuracy: Option<f64>,
    /// The largest of all evaluations.
    pub best_test_accuracy: Option<f64>,
    /// The fraction of training examples that clients hold back, on which the model is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// The best accuracy on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
    /// The round of the model that is chosen by it; without validation examples nothing is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_round: Option<usize>,
    /// That model's accuracy in the sense of `accuracy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_test_accuracy: Option<f64>,
    /// Which model is in `model.safetensors`, where it is not the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// Accuracy that was to be reached.
    pub target: Option<f64>,
    /// Until the first evaluation that reached the target.
    pub rounds_to_target: Option<usize>,
    /// Both directions, all clients, until then.
    pub bytes_to_target: Option<u64>,
    /// Test accuracy at which the first phase was to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    /// Until the evaluation that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_to_goal: Option<usize>,
    /// Over the clients' own test examples, where they have any.
    pub local_accuracy: Option<ClientSummary>,
    /// The same of the algorithm's evaluations with a name, by that name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evaluations: BTreeMap<String, ClientSummary>,
    /// Of the client that joins late, on its own; the others' are above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newcomer_accuracy: Option<f64>,
    /// On the test set, of the clients' own models together, by the mean of their logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ensemble_accuracy: Option<f64>,
    /// What adversaries find of each protected attribute on the test set, if it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adversary: Vec<AttributeAuc>,
    /// BLEU-1 to BLEU-4 of the test images' captions, of models that find some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bleu: Option<[f64; 4]>,
    /// The largest BLEU-4 of all evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_bleu: Option<f64>,
    /// Of models that answer questions: over all test questions, as in VQA.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vqa_accuracy: Option<f64>,
    /// Of models of next characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
    /// Each client's, by its number; `null` where it has no test examples.
    pub client_accuracy: Vec<Option<f64>>,
    /// By the class's name.
    pub class_accuracy: Map<String, Value>,
    /// The last of each number that the algorithm's server keeps, by layer and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub server: BTreeMap<String, f64>,
    pub client_steps: u64,
    /// Of training, without evaluation.
    pub seconds: f64,
    pub client_steps_per_second: f64,
    /// Of everything from the process's first line to the summary.
    pub total_seconds: f64,
    /// Of these, what this process's checkpoints took.
    pub checkpoint_seconds: f64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// From clients to other clients, if they send to each other.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_across: u64,
    /// What noise on what clients tell leaves of their privacy, where there is some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<PrivacySpent>,
    /// In how many rounds each client was left out because its update was not finite, by its number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_finite: BTreeMap<usize, usize>,
    /// Of all rounds on the virtual clock, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_seconds: Option<f64>,
    /// Failures of clients, late clients and skipped rounds, where clients may fail or be late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// What became of the steps of loops over batches, where they were to be replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphs: Option<CaptureSummary>,
    pub out: String,
    pub version: &'static str,
}

/// The federation of a run.
pub(super) fn federation(run: &Run, delta: f64) -> Federation {
    let own = &run.simulation().dataset().client_indices;
    let sizes = || own.iter().map(Vec::len);
    let faults = &run.settings().faults;
    Federation {
        clients: own.len(),
        fewest_examples: sizes().min().unwrap_or(0),
        most_examples: sizes().max().unwrap_or(0),
        reproducible: run.settings().reproducible_noise,
        missed: Missed {
            some: faults.dropout > 0.0 || faults.deadline.is_some(),
            // Where all are equally fast, those that were drawn first take part: a cohort like any other.
            slow: faults.over_select > 1.0 && faults.has_clock(),
        },
        delta,
    }
}

impl Summary {
    /// The summary of a run that ended with a report, or with that and an error.
    pub(super) fn new(
        (settings, config, run): (&Settings, &Config, &Run),
        (report, failure): (&Report, Option<&ExperimentError>),
        dir: &Path,
        (total, checkpoints): (Duration, Duration),
    ) -> Self {
        let curve = report.accuracy_curve();
        let best = best(&curve);
        let reached = |target| first_to_reach(&curve, target);
        let reached = settings.target.and_then(reached);
        let scores = report.scores.as_ref();
        let server = |scores: &&Scores| scores.server_trained;
        let rounds = report.history.iter().filter_map(|r| r.scores.as_ref());
        let of_server = rounds.filter(server).map(|scores| scores.accuracy);
        let server = scores.filter(server);
        let classes = server.map_or(&[][..], |scores| &scores.class_accuracy);
        let classes = run.data().class_names.iter().zip(classes);
        Self {
            status: report.status,
            error: failure.map(ToString::to_string),
            spec: settings.spec.clone(),
            hyper: config.hyper.clone(),
            model: settings.model.clone(),
            aux: settings.run.auxiliaries.clone(),
            parameters: run.program().parameter_count(),
            train: (settings.run.train != Train::All).then(|| settings.run.train.to_string()),
            weights: loaded_weights(settings, run),
            data: settings.data.name(),
            partition: settings.run.partition.to_string(),
            clients: settings.run.clients,
            seed: settings.run.seed,
            threads: settings.run.threads,
            rounds: report.rounds(),
            trained: report.trained(),
            training_begins: not_begun(run.simulation(), report.rounds(), report.goal_round),
            train_loss: report.train_loss(),
            accuracy: scores.map_or(f64::NAN, Scores::headline),
            accuracy_of: match scores.is_some_and(Scores::is_of_clients) {
                true => Models::Clients,
                false => Models::Server,
            },
            best_accuracy: best.map(|point| point.value),
            best_round: best.map(|point| point.round),
            validation: settings.run.validation,
            validation_accuracy: report.best.as_ref().map(|best| best.validation_accuracy),
            chosen_round: report.best.as_ref().map(|best| best.round),
            chosen_test_accuracy: chosen(report),
            kept: (settings.run.keep != Keep::Last).then(|| settings.run.keep.to_string()),
            test_loss: server.map(|scores| scores.loss),
            test_accuracy: server.map(|scores| scores.accuracy),
            best_test_accuracy: of_server.reduce(f64::max),
            target: settings.target,
            rounds_to_target: reached.map(|point| point.round),
            bytes_to_target: reached.map(|point| point.bytes),
            goal: settings.run.goal,
            rounds_to_goal: report.goal_round,
            local_accuracy: scores.and_then(|scores| scores.local),
            evaluations: scores.map(|s| s.evaluations.clone()).unwrap_or_default(),
            newcomer_accuracy: scores.and_then(|scores| scores.late_client),
            ensemble_accuracy: report.ensemble_accuracy,
            adversary: report.adversary.clone(),
            bleu: scores.and_then(|scores| scores.bleu),
            best_bleu: report.best_bleu(),
            vqa_accuracy: scores.and_then(|scores| scores.vqa_accuracy),
            perplexity: scores.and_then(|scores| scores.perplexity),
            client_accuracy: report.client_accuracy.clone(),
            class_accuracy: classes
                .map(|(c, a)| ((*c).to_owned(), Value::from(*a)))
                .collect(),
            server: report.server_numbers(),
            client_steps: report.client_steps(),
            seconds: report.seconds(),
            client_steps_per_second: report.client_steps_per_second(),
            total_seconds: total.as_secs_f64(),
            checkpoint_seconds: checkpoints.as_secs_f64(),
            bytes_up: report.bytes_up(),
            bytes_down: report.bytes_down(),
            bytes_across: report.bytes_across(),
            privacy: privacy_spent(
                run.program(),
                federation(run, settings.delta).seen(&report.history),
                report.rounds(),
                report.goal_round,
            ),
            not_finite: report.not_finite(),
            virtual_seconds: report.virtual_seconds(),
            faults: FaultCounts::of(settings, report),
            graphs: report.capture.clone().map(Into::into),
            out: dir.display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// What the run took from a file of weights, if it starts from one.
fn loaded_weights(settings: &Settings, run: &Run) -> Option<LoadedWeights> {
    let (weights, states) = (settings.run.weights.as_ref()?, run.loaded_server_states());
    Some(LoadedWeights::new(weights, run.loaded_weights()?, states))
}

/// The test accuracy of the model that is best on validation examples.
fn chosen(report: &Report) -> Option<f64> {
    let best = report.best.as_ref()?;
    let mut rounds = report.history.iter();
    let round = rounds.find(|round| round.number == best.round)?;
    Some(round.scores.as_ref()?.headline())
}
