//! `fedround eval`: the models of a finished run on test examples, without training.

use std::sync::Arc;

use fedround::experiment::{ModelScores, Run};
use fedround_metrics::clients::ClientSummary;
use serde::Serialize;
use serde_json::{Map, Value};

use super::TrainedRun;
use super::args::{Clients, EvalArgs};
use crate::catalog::Catalog;
use crate::error::{CliError, at_least_one};
use crate::files::json;
use crate::run::bleu;
use crate::terminal::table::{BORDERS, table, wrapped};
use crate::terminal::{nats, percent, print, tell};

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    run: String,
    data: String,
    /// How many examples the test set has.
    examples: usize,
    /// The server's model on the test set, where it is asked for and was trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Scores>,
    /// A client's own model on its own test examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<OfClient>,
    /// The mean and the spread of the accuracies below, where there are several: those on the clients' own examples,
    /// without the late client.
    #[serde(skip_serializing_if = "Option::is_none")]
    clients: Option<ClientSummary>,
    /// By the client's number; `null` where a client has no test examples, or never took part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    client_accuracy: Vec<Option<f64>>,
}

#[derive(Debug, Serialize)]
struct Scores {
    accuracy: f64,
    /// In nats.
    loss: f64,
    /// By the class's name.
    class_accuracy: Map<String, Value>,
    /// If there are two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    auc: Option<f64>,
    /// If the model writes captions.
    #[serde(skip_serializing_if = "Option::is_none")]
    bleu: Option<[f64; 4]>,
    /// If it answers questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    vqa_accuracy: Option<f64>,
    /// If it predicts next characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    perplexity: Option<f64>,
}

#[derive(Debug, Serialize)]
struct OfClient {
    client: usize,
    /// On its own test examples; `null` where it has none.
    own: Option<Scores>,
    /// On the whole test set.
    test: Scores,
}

pub(crate) fn eval(catalog: &Catalog, args: &EvalArgs) -> Result<(), CliError> {
    let mut trained = TrainedRun::open(&args.run, args.data_dir.clone())?;
    trained.settings.run.eval_batch = at_least_one("batch", args.batch)?;
    if let Some(beam) = args.beam {
        trained.settings.run.beam = at_least_one("beam", beam)?;
    }
    let data = match &args.data {
        Some(other) => Arc::new(trained.test_on(other.parse()?, &args.reading)?),
        None => {
            let of_run = &trained.settings.reading;
            if let Some(flag) = args.reading.first_differing_flag(of_run) {
                return Err(CliError::OwnDataOption { flag });
            }
            let data = trained.settings.load()?;
            trained.check_data(&data)?;
            data
        }
    };
    data.notes.iter().for_each(|note| tell!("note: {note}"));
    let experiment = catalog.experiment(&trained.settings, data)?;
    let mut session = Session {
        run: experiment.prepare(trained.settings.rounds)?,
        own_examples: args.data.is_none(),
        trained,
    };
    let report = session.report(args)?;
    match args.json {
        true => print(&json(&report)?),
        false => print(&text(&report)),
    }
}

/// A run whose models are set one after another.
struct Session {
    trained: TrainedRun,
    run: Run,
    /// Whether clients are tested on their own examples, not on the whole test set.
    own_examples: bool,
}

impl Session {
    fn report(&mut self, args: &EvalArgs) -> Result<Report, CliError> {
        let mut report = Report {
            run: args.run.display().to_string(),
            data: self.trained.settings.data.name(),
            examples: self.run.data().test.len(),
            server: None,
            client: None,
            clients: None,
            client_accuracy: vec![],
        };
        match args.client {
            Some(Clients::One(client)) => {
                self.trained.set_model(&mut self.run, Some(client))?;
                report.client = Some(OfClient {
                    client,
                    own: match self.own_examples {
                        true => self
                            .run
                            .evaluate_model_for(client)?
                            .map(|e| self.scores(&e)),
                        false => None,
                    },
                    test: self.scores(&self.run.evaluate_model()?),
                });
            }
            Some(Clients::All) => self.all_clients(&mut report)?,
            None => {
                match self.trained.set_model(&mut self.run, None) {
                    Ok(()) => report.server = Some(self.scores(&self.run.evaluate_model()?)),
                    Err(CliError::Untrained { clients: true, .. }) => {}
                    Err(error) => return Err(error),
                }
                if self.trained.has_clients() {
                    self.all_clients(&mut report)?;
                }
            }
        }
        Ok(report)
    }

    /// Tests the model of each client.
    fn all_clients(&mut self, report: &mut Report) -> Result<(), CliError> {
        let late = self.own_examples.then(|| self.trained.late_client());
        let late = late.transpose()?.flatten();
        for client in 0..self.trained.settings.run.clients {
            if late.is_some_and(|late| late.client == client && !late.has_joined) {
                report.client_accuracy.push(None);
                continue;
            }
            self.trained.set_model(&mut self.run, Some(client))?;
            let tested = match self.own_examples {
                true => self.run.evaluate_model_for(client)?,
                false => Some(self.run.evaluate_model()?),
            };
            report
                .client_accuracy
                .push(tested.map(|tested| tested.evaluation.accuracy));
        }
        // As in the run, the late client is not one of those that are summed up.
        let others = report.client_accuracy.iter().enumerate();
        let others = others.filter(|(client, _)| late.is_none_or(|late| late.client != *client));
        let known: Vec<f64> = others.filter_map(|(_, accuracy)| *accuracy).collect();
        report.clients = ClientSummary::of(&known).ok();
        Ok(())
    }

    fn scores(&self, scores: &ModelScores) -> Scores {
        let names = &self.run.data().class_names;
        let classes = names.iter().zip(&scores.evaluation.class_accuracy);
        Scores {
            accuracy: scores.evaluation.accuracy,
            loss: scores.evaluation.loss,
            auc: scores.auc,
            bleu: scores.bleu,
            vqa_accuracy: scores.vqa_accuracy,
            perplexity: scores.perplexity,
            class_accuracy: classes
                .map(|(name, accuracy)| (name.clone(), Value::from(*accuracy)))
                .collect(),
        }
    }
}

/// The scores of a model in a line.
fn scores(of: &Scores) -> String {
    let mut parts = vec![percent(of.accuracy), format!("loss {}", nats(of.loss))];
    parts.extend(of.auc.map(|auc| format!("AUC {}", percent(auc))));
    parts.extend(of.perplexity.map(|value| format!("perplexity {value:.3}")));
    let vqa = of.vqa_accuracy;
    parts.extend(vqa.map(|accuracy| format!("VQA accuracy {}", percent(accuracy))));
    parts.extend(of.bleu.map(|all| format!("BLEU-1 to 4: {} %", bleu(all))));
    parts.join(", ")
}

/// The report for people.
fn text(report: &Report) -> String {
    let test = format!(
        "the test set of {}, {} examples",
        report.data, report.examples
    );
    let mut rows = vec![];
    if let Some(server) = &report.server {
        rows.push([format!("server's model on {test}"), scores(server)]);
    }
    if let Some(of) = &report.client {
        let client = of.client;
        if let Some(own) = &of.own {
            rows.push([format!("client {client} on its own examples"), scores(own)]);
        }
        rows.push([format!("client {client} on {test}"), scores(&of.test)]);
    }
    if let Some(all) = &report.clients {
        let spread = format!(
            "{} ± {}, {} over the worst tenth",
            percent(all.mean),
            percent(all.std),
            percent(all.worst_decile)
        );
        rows.push([format!("{} clients' models", all.clients), spread]);
    }
    let untested = match (&report.clients, &report.client_accuracy[..]) {
        (None, [_, ..]) => format!(
            "no client has test examples of its own, so that the clients' models are not tested; `fedround eval {} --client K` tests that of client K on the whole test set\n",
            report.run
        ),
        _ => String::new(),
    };
    let tested = match rows.is_empty() {
        true => String::new(),
        false => format!("{}\n", table(BORDERS, [""; 0], 2, rows)),
    };
    tested + &wrapped(&untested)
}
