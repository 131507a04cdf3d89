//! Examples that clients hold back from training, on which a run's choices are made.

use std::collections::BTreeMap;

use fedround_data::Examples;
use fedround_data::partition::Split;
use fedround_simulation::{RunError, Simulation};

/// The examples that clients hold back.
pub(super) struct ValidationSet {
    /// The validation examples of all clients, one client's after another's.
    all: Examples,
    /// Each client's own, by its number.
    own: Vec<(usize, Examples)>,
}

impl ValidationSet {
    /// What clients hold back of `examples`, in which rotated clients' images are rotated; `None` where
    /// nobody does.
    pub fn new(examples: &Examples, splits: &[Split]) -> Option<Self> {
        let own = splits.iter().enumerate();
        let own = own.filter(|(_, split)| !split.validation.is_empty());
        let own = own.map(|(k, split)| (k, examples.subset(&split.validation)));
        let own: Vec<_> = own.collect();
        let all: Vec<usize> = splits.iter().flat_map(|s| s.validation.clone()).collect();
        (!own.is_empty()).then(|| Self {
            all: examples.subset(&all),
            own,
        })
    }

    /// What a client holds back.
    pub fn of_client(&self, client: usize) -> Option<Examples> {
        let mut own = self.own.iter().filter(|(k, _)| *k == client);
        own.next().map(|(_, examples)| examples.clone())
    }

    /// The accuracy of the model that the algorithm trains: where clients have models of their own, the
    /// mean over clients, each on its own examples; otherwise that of the global model.
    pub fn accuracy(&self, simulation: &Simulation) -> Result<f64, RunError> {
        if !simulation.has_personal_models() {
            return Ok(simulation.evaluate(&self.all)?.accuracy);
        }
        let mut found = BTreeMap::new();
        simulation.visit_personal_models::<RunError>(|models| {
            for k in models.clients() {
                // In the order of clients.
                let at = self.own.binary_search_by_key(&k, |(own, _)| *own);
                let Ok(at) = at else { continue };
                let tested = simulation.evaluate_client(models, k, &self.own[at].1)?;
                found.extend(tested.map(|tested| (k, tested.accuracy)));
            }
            Ok(())
        })?;
        let joined = found.into_iter().filter(|(k, _)| *k < simulation.clients());
        let accuracies: Vec<f64> = joined.map(|(_, accuracy)| accuracy).collect();
        Ok(mean(&accuracies))
    }
}

/// The mean of accuracies; NaN of none.
pub(super) fn mean(accuracies: &[f64]) -> f64 {
    accuracies.iter().sum::<f64>() / accuracies.len() as f64
}
