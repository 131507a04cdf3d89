//! Scores of each client and of each domain, which
//! [`Settings::track_clients`](super::Settings::track_clients) adds to an evaluation.

use std::collections::BTreeMap;

use fedround_data::partition::{PartitionError, Split};
use fedround_data::{Dataset, Examples};
use fedround_simulation::{Evaluation, RunError, Simulation};
use serde::{Deserialize, Serialize};

use super::own_models::has_joined;

/// How models do on some test examples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ClientScore {
    /// Fraction of examples, or words, that are right.
    pub accuracy: f64,
    /// Mean cross-entropy of an example, or a word, in nats.
    pub loss: f64,
}

/// How clients do on their own test examples, with their own models where they have some.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ClientScores {
    /// By the client's number; clients without test examples have none.
    pub clients: BTreeMap<usize, ClientScore>,
    /// By the name of the domain, or what else the dataset groups its examples by: the mean over the
    /// test examples of a domain, each with the model of its client.
    pub domains: BTreeMap<String, ClientScore>,
}

/// The test examples of each client, domain by domain.
pub(super) struct ClientTests(Vec<Part>);

/// The test examples of a client in a domain.
struct Part {
    client: usize,
    domain: Option<String>,
    examples: Examples,
}

impl ClientTests {
    pub fn new(data: &Dataset, splits: &[Split]) -> Result<Self, PartitionError> {
        let domain = |example: usize| {
            let group = *data.test_groups.as_ref()?.get(example)?;
            data.group_names.get(group as usize)
        };
        let mut parts = vec![];
        for (client, split) in splits.iter().enumerate() {
            let mut of: BTreeMap<Option<&String>, Vec<usize>> = BTreeMap::new();
            for &example in &split.test {
                of.entry(domain(example)).or_default().push(example);
            }
            for (domain, own) in of {
                let mut examples = data.test.subset(&own);
                if let Some(rotation) = split.rotation {
                    let all: Vec<usize> = (0..own.len()).collect();
                    examples = rotation.turned(&examples, &all)?;
                }
                parts.push(Part {
                    client,
                    domain: domain.cloned(),
                    examples,
                });
            }
        }
        Ok(Self(parts))
    }

    /// Tests the models that clients use; nothing if these are at parties.
    pub fn run(&self, simulation: &Simulation) -> Result<ClientScores, RunError> {
        let (mut clients, mut domains) = (BTreeMap::new(), BTreeMap::new());
        let mut add = |part: &Part, tested: &Evaluation| {
            let examples = part.examples.len() as f64;
            let client: &mut Sum = clients.entry(part.client).or_default();
            client.add(examples, tested);
            if let Some(domain) = &part.domain {
                let domain: &mut Sum = domains.entry(domain.clone()).or_default();
                domain.add(examples, tested);
            }
        };
        let there = || {
            let parts = self.0.iter();
            parts.filter(|part| has_joined(simulation, part.client))
        };
        if simulation.personal_models_are_at_parties() {
            return Ok(ClientScores::default());
        }
        if simulation.has_personal_models() {
            simulation.visit_personal_models::<RunError>(|models| {
                for client in models.clients() {
                    for part in there().filter(|part| part.client == client) {
                        let tested = simulation.evaluate_client(models, client, &part.examples)?;
                        tested.iter().for_each(|tested| add(part, tested));
                    }
                }
                Ok(())
            })?;
        } else {
            for part in there() {
                add(part, &simulation.evaluate(&part.examples)?);
            }
        }
        Ok(ClientScores {
            clients: clients
                .into_iter()
                .map(|(k, sum)| (k, sum.mean()))
                .collect(),
            domains: domains
                .into_iter()
                .map(|(d, sum)| (d, sum.mean()))
                .collect(),
        })
    }
}

/// Sums over examples.
#[derive(Default)]
struct Sum {
    examples: f64,
    accuracy: f64,
    loss: f64,
}

impl Sum {
    fn add(&mut self, examples: f64, tested: &Evaluation) {
        self.examples += examples;
        self.accuracy += examples * tested.accuracy;
        self.loss += examples * tested.loss;
    }

    fn mean(&self) -> ClientScore {
        ClientScore {
            accuracy: self.accuracy / self.examples,
            loss: self.loss / self.examples,
        }
    }
}
