//! What a run is measured on: the test set, and each client's own part of it.

use fedround_data::Examples;
use fedround_data::partition::{PartitionError, Split};
use fedround_exec::{Evaluation, RunError, Simulation};
use fedround_metrics::clients::ClientSummary;

/// The test set and its parts.
pub(super) struct Tests {
    examples: Examples,
    /// Clients that see the test set's images as they are: indices of `examples`.
    plain: Vec<Vec<usize>>,
    /// Clients that see theirs rotated.
    rotated: Vec<Examples>,
}

/// How a model does on both.
pub(super) struct Tested {
    pub global: Evaluation,
    /// Over the clients that have test examples; `None` where no client has any.
    pub local: Option<ClientSummary>,
}

impl Tests {
    /// The tests of the clients in `splits` of a dataset with the test set `examples`.
    pub fn new(examples: Examples, splits: &[Split]) -> Result<Self, PartitionError> {
        let tested = || splits.iter().filter(|split| !split.test.is_empty());
        let plain = tested().filter(|split| split.rotation.is_none());
        let turned = tested().filter_map(|split| Some((split.rotation?, &split.test)));
        let rotated = turned.map(|(rotation, test)| {
            let own: Vec<usize> = (0..test.len()).collect();
            rotation.turned(&examples.subset(test), &own)
        });
        Ok(Self {
            plain: plain.map(|split| split.test.clone()).collect(),
            rotated: rotated.collect::<Result<_, _>>()?,
            examples,
        })
    }

    /// Tests the simulation's current model.
    pub fn run(&self, simulation: &Simulation) -> Result<Tested, RunError> {
        let global = simulation.evaluate(&self.examples)?;
        let labels = self.examples.labels();
        let right = |&i: &usize| global.predictions[i] == labels[i];
        let share =
            |test: &Vec<usize>| test.iter().filter(|i| right(i)).count() as f64 / test.len() as f64;
        let mut local: Vec<f64> = self.plain.iter().map(share).collect();
        for examples in &self.rotated {
            local.push(simulation.evaluate(examples)?.accuracy);
        }
        Ok(Tested {
            local: ClientSummary::of(&local).ok(),
            global,
        })
    }
}
