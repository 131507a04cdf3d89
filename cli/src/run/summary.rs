//! The summary of a finished run, as it stands in `summary.json`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fedround::Auxiliaries;
use fedround::experiment::{AttributeAuc, ExperimentError, Keep, Report, Run, Scores, Status};
use fedround::privacy;
use fedround_metrics::clients::ClientSummary;
use fedround_metrics::progress::{best, first_to_reach};
use fedround_models::Train;
use serde::Serialize;
use serde_json::{Map, Value};

use super::metric::{Models, is_zero};
use super::phases::not_begun;
use super::summary_counts::{CaptureSummary, FaultCounts};
use crate::data::client_names::client_names;
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::settings::weights::LoadedWeights;

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
    /// The number of trained parameters.
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
    /// What the data calls the clients, by their numbers, if it names them and each is one that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_names: Vec<String>,
    pub seed: u64,
    pub threads: usize,
    /// The number of completed rounds.
    pub rounds: usize,
    /// Whether one of them trained something.
    #[serde(skip)]
    pub trained: bool,
    /// The round in which the algorithm begins to train its model, if the run ended in an earlier phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_begins: Option<usize>,
    pub train_loss: f64,
    /// Accuracy of the models that the algorithm trains: the mean over clients of their own models on their
    /// own test examples, or that of the server's model on the test set; `null` where nothing tests them.
    pub accuracy: f64,
    /// Which of the two `accuracy` is, or would be.
    pub accuracy_of: Models,
    /// The largest accuracy of all evaluations of these models. It is found on the test examples themselves, so it must not
    /// be used to choose a model, and does not estimate accuracy on new data.
    pub best_accuracy: Option<f64>,
    /// The round in which `best_accuracy` was first reached.
    pub best_round: Option<usize>,
    /// Loss of the server's model on the test set; `null` unless all of the model was trained.
    pub test_loss: Option<f64>,
    /// Accuracy of the server's model on the test set; `null` like `test_loss`.
    pub test_accuracy: Option<f64>,
    /// The largest `test_accuracy` of all evaluations.
    pub best_test_accuracy: Option<f64>,
    /// The fraction of training examples that clients hold back, on which the model is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// The best accuracy on the validation examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
    /// The round of the model that is chosen by it; without validation examples nothing is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_round: Option<usize>,
    /// That model's accuracy on test examples, measured as `accuracy` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_test_accuracy: Option<f64>,
    /// Which model is in `model.safetensors`, where it is not the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// The target accuracy.
    pub target: Option<f64>,
    /// Rounds until the first evaluation that reached the target.
    pub rounds_to_target: Option<usize>,
    /// Bytes in all directions, of all clients, until then.
    pub bytes_to_target: Option<u64>,
    /// Test accuracy at which the first phase was to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    /// Rounds until the evaluation that reached the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_to_goal: Option<usize>,
    /// Accuracy over the clients' own test examples, if they have any.
    pub local_accuracy: Option<ClientSummary>,
    /// Area under the ROC curve of the server's model on the test set, if there are two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// The same over the clients' own test examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_auc: Option<ClientSummary>,
    /// Accuracy over clients for the algorithm's named evaluations, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evaluations: BTreeMap<String, ClientSummary>,
    /// Accuracy of the late client on its own examples; `local_accuracy` is of the other clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newcomer_accuracy: Option<f64>,
    /// Accuracy on the test set of an ensemble of the clients' own models, which averages their logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ensemble_accuracy: Option<f64>,
    /// AUC on the test set of the adversary for each protected attribute, if there were adversaries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adversary: Vec<AttributeAuc>,
    /// BLEU-1 to BLEU-4 of the server's model for the test images, if it writes captions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bleu: Option<[f64; 4]>,
    /// The largest BLEU-4 of all evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_bleu: Option<f64>,
    /// VQA accuracy over all test questions, if the model answers questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vqa_accuracy: Option<f64>,
    /// Perplexity of the server's model on the test set, if it predicts next characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
    /// Accuracy of each client, by its number; `null` if it has no test examples.
    pub client_accuracy: Vec<Option<f64>>,
    /// Accuracy for each class, by its name.
    pub class_accuracy: Map<String, Value>,
    /// The last value of each number that the algorithm's server keeps, by layer and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub server: BTreeMap<String, f64>,
    pub client_steps: u64,
    /// Seconds of training, without evaluation.
    pub seconds: f64,
    pub client_steps_per_second: f64,
    /// Seconds from the start of the process to the summary.
    pub total_seconds: f64,
    /// Seconds of these that this process's checkpoints took.
    pub checkpoint_seconds: f64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Bytes sent from clients to other clients, if they send to each other.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_across: u64,
    /// Privacy spent by noised messages of clients, if the algorithm adds noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<privacy::Spent>,
    /// The number of rounds in which each client was left out because its update was not finite, by its number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_finite: BTreeMap<usize, usize>,
    /// Seconds of all rounds on the virtual clock, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_seconds: Option<f64>,
    /// Numbers of failed and late clients and of skipped rounds, if clients may fail or be late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// How many steps of loops over batches were replayed, and why others were not, if graph capture is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphs: Option<CaptureSummary>,
    pub out: String,
    pub version: &'static str,
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
            weights: LoadedWeights::of(run),
            data: settings.data.name(),
            partition: settings.run.partition.to_string(),
            clients: settings.run.clients,
            client_names: names(settings, run),
            seed: settings.run.seed,
            threads: settings.run.threads,
            rounds: report.rounds(),
            trained: report.trained(),
            training_begins: not_begun(run.simulation(), report.rounds(), report.goal_round),
            train_loss: report.train_loss(),
            accuracy: scores.and_then(Scores::headline).unwrap_or(f64::NAN),
            accuracy_of: scores.map(Models::of).unwrap_or_default(),
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
            auc: server.and_then(|scores| scores.auc),
            local_auc: scores.and_then(|scores| scores.local_auc),
            evaluations: scores.map(|s| s.evaluations.clone()).unwrap_or_default(),
            newcomer_accuracy: scores.and_then(|scores| scores.late_client),
            ensemble_accuracy: report.ensemble_accuracy,
            adversary: report.adversary.clone(),
            bleu: server.and_then(|scores| scores.bleu),
            best_bleu: report.best_bleu(),
            vqa_accuracy: scores.and_then(|scores| scores.vqa_accuracy),
            perplexity: server.and_then(|scores| scores.perplexity),
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
            privacy: report.privacy.clone(),
            not_finite: report.not_finite(),
            virtual_seconds: report.virtual_seconds(),
            faults: FaultCounts::of(settings, report),
            graphs: report.capture.clone().map(Into::into),
            out: dir.display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The names of the clients, where each is in the simulation: not so if all of their examples are in one place.
fn names(settings: &Settings, run: &Run) -> Vec<String> {
    let own = &run.simulation().dataset().client_indices;
    match own.len() == settings.run.clients {
        true => client_names(run.data(), &settings.run.partition, own),
        false => vec![],
    }
}

/// The test accuracy of the model that is best on validation examples.
fn chosen(report: &Report) -> Option<f64> {
    let best = report.best.as_ref()?;
    let mut rounds = report.history.iter();
    let round = rounds.find(|round| round.number == best.round)?;
    round.scores.as_ref()?.headline()
}
