//! The accuracy by which runs are compared.

use fedround_metrics::progress::{Point, first_to_reach};
use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::run::Models;

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Accuracy after the last round of the models that the algorithm trains.
    #[default]
    Accuracy,
    /// Accuracy of the model that validation examples choose.
    ChosenTestAccuracy,
    /// Mean over clients of the accuracy on their own test examples after the last round.
    LocalAccuracy,
}

impl Quantity {
    /// What runs have in common after the last round. Where the accuracy is of the clients' own models in
    /// some runs and of the server's model in others, it is two measures, and local accuracies are
    /// compared if all runs have them.
    pub fn common(runs: &[&Record]) -> Self {
        let local = || runs.iter().all(|run| run.local_accuracy.is_some());
        match mixed(runs.iter().map(|run| run.accuracy_of)) && local() {
            true => Self::LocalAccuracy,
            false => Self::Accuracy,
        }
    }

    /// The number of a run.
    pub fn of(self, run: &Record) -> Option<f64> {
        match self {
            Self::Accuracy => run.accuracy,
            Self::ChosenTestAccuracy => run.chosen_test_accuracy,
            Self::LocalAccuracy => Some(run.local_accuracy.as_ref()?.mean),
        }
    }

    /// It in the course of a run's rounds.
    pub fn curve(self, run: &Record) -> Vec<Point> {
        match self {
            Self::Accuracy | Self::ChosenTestAccuracy => run.curve(),
            Self::LocalAccuracy => run.local_curve(),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::ChosenTestAccuracy => "chosen accuracy",
            Self::LocalAccuracy => "local accuracy",
        }
    }

    /// Its name on an axis, for accuracies of these models.
    pub fn label(self, mut of: impl Iterator<Item = Models>) -> &'static str {
        match self {
            Self::Accuracy if of.all(|of| of == Models::Server) => "test accuracy",
            own => own.name(),
        }
    }
}

/// Whether some accuracies are of the clients' own models, and others of the server's.
pub(super) fn mixed(mut of: impl Iterator<Item = Models>) -> bool {
    let first = of.next();
    of.any(|of| Some(of) != first)
}

/// An accuracy that runs are to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub accuracy: f64,
    pub of: Quantity,
}

impl Target {
    /// Where a run reaches it.
    pub fn reached(self, run: &Record) -> Option<Point> {
        first_to_reach(&self.of.curve(run), self.accuracy)
    }
}
