//! Evaluation on the test set and on each client's own part of it.

use std::collections::BTreeMap;

use fedround_data::Examples;
use fedround_data::partition::{PartitionError, Split};
use fedround_metrics::clients::ClientSummary;
use fedround_simulation::{Evaluation, RunError, Simulation};

use super::Scores;
use super::client_scores::ClientTests;
use super::language::{LanguageScores, LanguageTest};
use super::model_scores::{ModelScores, auc};
use super::own_models::{OwnModels, has_joined};

/// The test set and its parts.
pub(super) struct TestSet {
    pub examples: Examples,
    /// Clients that see the test set's images as they are, by number: indices of `examples`.
    plain: Vec<(usize, Vec<usize>)>,
    /// Clients that see theirs rotated.
    rotated: Vec<(usize, Examples)>,
    /// Captions or answers of people, where the model gives some.
    language: Option<LanguageTest>,
    /// Where single clients are reported.
    each: Option<ClientTests>,
    /// How many clients there are, tested or not.
    pub clients: usize,
}

/// How a model does on both.
pub(super) struct Tested {
    pub scores: Scores,
    /// The accuracy of each client on its own test examples, by its number.
    pub clients: Vec<(usize, f64)>,
    /// The same on the examples that clients hold back, where parties told it.
    pub validation: Vec<(usize, f64)>,
}

impl TestSet {
    /// The tests of the clients in `splits` of a dataset with the test set `examples`.
    pub fn new(
        examples: Examples,
        splits: &[Split],
        language: Option<LanguageTest>,
        each: Option<ClientTests>,
    ) -> Result<Self, PartitionError> {
        let numbered = || splits.iter().enumerate();
        let tested = || numbered().filter(|(_, split)| !split.test.is_empty());
        let plain = tested().filter(|(_, split)| split.rotation.is_none());
        let turned = tested().filter_map(|(k, split)| Some((k, split.rotation?, &split.test)));
        let rotated = turned.map(|(k, rotation, test)| {
            let own: Vec<usize> = (0..test.len()).collect();
            Ok((k, rotation.turned(&examples.subset(test), &own)?))
        });
        Ok(Self {
            plain: plain.map(|(k, split)| (k, split.test.clone())).collect(),
            rotated: rotated.collect::<Result<_, _>>()?,
            clients: splits.len(),
            examples,
            language,
            each,
        })
    }

    /// Tests the simulation's current model, and the clients' own ones on their own examples; `None` if these
    /// are at parties and none of them answers.
    pub fn run(&self, simulation: &mut Simulation) -> Result<Option<Tested>, RunError> {
        let at_parties = simulation.evaluate_at_parties()?;
        let simulation = &*simulation;
        let global = simulation.evaluate(&self.examples)?;
        let own = match at_parties {
            Some(scores) if scores.clients.is_empty() => return Ok(None),
            Some(scores) => OwnModels::at_parties(simulation, scores)?,
            None if simulation.has_personal_models() => self.own(simulation)?,
            None => self.shared(simulation, &global)?,
        };
        let mut clients = own.tested;
        clients.retain(|(k, _)| has_joined(simulation, *k));
        let (late, others): (Vec<_>, Vec<_>) = clients
            .iter()
            .partition(|(k, _)| simulation.late_client() == Some(*k));
        let language = match &self.language {
            None => LanguageScores::default(),
            // Of parts that clients keep, the server's model has only the initial values.
            Some(LanguageTest::Answers { .. }) if own.at_parties => LanguageScores::default(),
            Some(test @ LanguageTest::Answers { .. }) if simulation.has_personal_models() => {
                test.score(simulation, &self.examples, &self.together(simulation)?)?
            }
            Some(test) => test.score(simulation, &self.examples, &global)?,
        };
        let local: Vec<f64> = others.iter().map(|(_, accuracy)| *accuracy).collect();
        let aucs = own.aucs.iter();
        let aucs = aucs.filter(|(k, _)| simulation.late_client() != Some(*k));
        let aucs: Vec<f64> = aucs.map(|(_, auc)| *auc).collect();
        Ok(Some(Tested {
            scores: Scores {
                personal: own.differ,
                server_trained: own.server_trained,
                loss: global.loss,
                accuracy: global.accuracy,
                class_accuracy: global.class_accuracy,
                local: ClientSummary::of(&local).ok(),
                evaluations: self.named(simulation)?,
                each: self
                    .each
                    .as_ref()
                    .map(|each| each.run(simulation))
                    .transpose()?,
                auc: auc(&global.margins, self.examples.labels()),
                local_auc: ClientSummary::of(&aucs).ok(),
                late_client: late.first().map(|(_, accuracy)| *accuracy),
                bleu: language.bleu,
                vqa_accuracy: language.vqa_accuracy,
                perplexity: language.perplexity,
                missing: own.missing,
                by_clients: own.by_clients,
            },
            clients,
            validation: own.validation,
        }))
    }

    /// Tests the simulation's current model alone on the test set.
    pub fn model(&self, simulation: &Simulation) -> Result<ModelScores, RunError> {
        let evaluation = simulation.evaluate(&self.examples)?;
        let language = self.language.as_ref();
        let language = language.map(|test| test.score(simulation, &self.examples, &evaluation));
        let language = language.transpose()?.unwrap_or_default();
        Ok(ModelScores::new(evaluation, &self.examples, language))
    }

    /// Tests the simulation's current model on a client's own test examples; `None` if it has none. Captions and answers
    /// of people are those of the whole test set, so that there are no scores of them.
    pub fn model_for(
        &self,
        simulation: &Simulation,
        client: usize,
    ) -> Result<Option<ModelScores>, RunError> {
        let Some(examples) = self.of_client(client) else {
            return Ok(None);
        };
        let evaluation = simulation.evaluate(&examples)?;
        let language = match &self.language {
            Some(test @ LanguageTest::Characters) => {
                test.score(simulation, &examples, &evaluation)?
            }
            _ => LanguageScores::default(),
        };
        Ok(Some(ModelScores::new(evaluation, &examples, language)))
    }

    /// A client's own test examples as it sees them; `None` where it has none.
    pub fn of_client(&self, client: usize) -> Option<Examples> {
        // Both are in the order of clients.
        let plain = self.plain.binary_search_by_key(&client, |(k, _)| *k);
        let rotated = self.rotated.binary_search_by_key(&client, |(k, _)| *k);
        match (plain, rotated) {
            (Ok(at), _) => Some(self.examples.subset(&self.plain[at].1)),
            (_, Ok(at)) => Some(self.rotated[at].1.clone()),
            _ => None,
        }
    }

    /// Tests the clients' own models together on the test set, by the mean of their logits; where they have
    /// none, all have the global one. All of them are in memory at once.
    pub fn together(&self, simulation: &Simulation) -> Result<Evaluation, RunError> {
        match simulation.personal_models()? {
            Some(models) => simulation.evaluate_ensemble(&models, &self.examples),
            None => simulation.evaluate(&self.examples),
        }
    }

    /// Tests the global model on each client's examples.
    fn shared(&self, simulation: &Simulation, global: &Evaluation) -> Result<OwnModels, RunError> {
        let labels = self.examples.labels();
        let right = |&&i: &&usize| global.predictions[i] == labels[i];
        let share = |test: &[usize]| test.iter().filter(right).count() as f64 / test.len() as f64;
        let (mut accuracies, mut aucs) = (vec![], vec![]);
        for (k, test) in &self.plain {
            // Words are not predicted one an example.
            let own = match global.predictions.is_empty() {
                true => simulation.evaluate(&self.examples.subset(test))?.accuracy,
                false => share(test),
            };
            accuracies.push((*k, own));
            if !global.margins.is_empty() {
                let margins: Vec<f32> = test.iter().map(|&i| global.margins[i]).collect();
                let labels: Vec<u16> = test.iter().map(|&i| labels[i]).collect();
                aucs.extend(auc(&margins, &labels).map(|auc| (*k, auc)));
            }
        }
        for (k, examples) in &self.rotated {
            let tested = simulation.evaluate(examples)?;
            accuracies.push((*k, tested.accuracy));
            aucs.extend(auc(&tested.margins, examples.labels()).map(|auc| (*k, auc)));
        }
        Ok(OwnModels::none(accuracies, aucs))
    }

    /// How clients do on their examples in each evaluation that has a name, without the late client.
    fn named(&self, simulation: &Simulation) -> Result<BTreeMap<String, ClientSummary>, RunError> {
        let mut all = BTreeMap::new();
        for name in simulation.evaluations() {
            let mut accuracies = BTreeMap::new();
            simulation.visit_evaluation::<RunError>(Some(name), |models| {
                for k in models
                    .clients()
                    .filter(|k| simulation.late_client() != Some(*k))
                {
                    if let Some(examples) = self.of_client(k)
                        && let Some(tested) = simulation.evaluate_client(models, k, &examples)?
                    {
                        accuracies.insert(k, tested.accuracy);
                    }
                }
                Ok(())
            })?;
            let accuracies: Vec<f64> = accuracies.into_values().collect();
            if let Ok(summary) = ClientSummary::of(&accuracies) {
                all.insert(name.to_owned(), summary);
            }
        }
        Ok(all)
    }

    /// Tests each client's own model on its examples.
    fn own(&self, simulation: &Simulation) -> Result<OwnModels, RunError> {
        let mut difference = simulation.personal_difference()?;
        let mut found = BTreeMap::new();
        simulation.visit_personal_models::<RunError>(|models| {
            difference.add(models)?;
            for k in models.clients() {
                if let Some(examples) = self.of_client(k)
                    && let Some(tested) = simulation.evaluate_client(models, k, &examples)?
                {
                    let auc = auc(&tested.margins, examples.labels());
                    found.insert(k, (tested.accuracy, auc));
                }
            }
            Ok(())
        })?;
        let plain = self.plain.iter().map(|(k, _)| *k);
        let all = plain.chain(self.rotated.iter().map(|(k, _)| *k));
        let (mut accuracies, mut aucs) = (vec![], vec![]);
        for k in all {
            let Some((accuracy, auc)) = found.get(&k) else {
                continue;
            };
            accuracies.push((k, *accuracy));
            aucs.extend(auc.map(|auc| (k, auc)));
        }
        Ok(OwnModels::here(simulation, &difference, accuracies, aucs))
    }
}
