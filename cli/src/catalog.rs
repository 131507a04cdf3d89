//! Algorithms, models and losses by name, and experiments of them.

use std::sync::Arc;

use fedround::experiment::{Run, Settings as RunSettings};
use fedround::{Experiment, MakeModel, ModelSource};
use fedround_algorithms::{FedAvg, registry};
use fedround_data::{Dataset, InputEncoding, Partition};
use fedround_dsl::{BoxedAlgorithm, Registry};
use fedround_models::{Losses, MODELS, ModelError, find};
use fedround_names::nearest;

use crate::compile::pass_dump::observer;
use crate::error::CliError;
use crate::settings::Settings;
use crate::settings::dead_hypers::Uses;
use crate::settings::hypers::{self, Setting};

/// A model that a user's crate brings.
#[derive(Clone)]
pub(crate) struct OwnModel {
    pub name: &'static str,
    pub doc: &'static str,
    pub make: MakeModel,
}

/// What the command knows by name.
#[derive(Clone)]
pub(crate) struct Catalog {
    pub registry: Registry,
    pub losses: Losses,
    pub models: Vec<OwnModel>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self {
            registry: registry(),
            losses: Losses::default(),
            models: vec![],
        }
    }
}

impl Catalog {
    /// The algorithm of a text with its hyper-parameters set, the later setting winning.
    pub(crate) fn algorithm(
        &self,
        spec: &str,
        settings: &[Setting],
    ) -> Result<BoxedAlgorithm, CliError> {
        hypers::algorithm(&self.registry, spec, settings)
    }

    /// The model of a name: the user's own, or else a bundled one.
    pub(crate) fn model_of(&self, name: &str) -> Result<ModelSource, CliError> {
        if let Some(own) = self.models.iter().find(|own| own.name == name) {
            return Ok(ModelSource::Own {
                name: own.name.to_owned(),
                make: own.make.clone(),
            });
        }
        match find(name) {
            Ok(_) => Ok(name.into()),
            Err(error) if self.models.is_empty() => Err(error.into()),
            Err(_) => {
                let bundled = MODELS.map(|m| m.name);
                let names = || self.models.iter().map(|m| m.name).chain(bundled);
                Err(CliError::from(ModelError::Unknown {
                    name: name.to_owned(),
                    nearest: nearest(name, names()),
                    known: names().collect::<Vec<_>>().join(", "),
                }))
            }
        }
    }

    /// An experiment with an algorithm, a model of that name and the losses that are known here.
    pub(crate) fn experiment_of(
        &self,
        algorithm: BoxedAlgorithm,
        model: &str,
    ) -> Result<Experiment, CliError> {
        let experiment = Experiment::new(algorithm).model(self.model_of(model)?);
        let experiment = experiment.losses(self.losses.clone());
        Ok(match observer()? {
            Some(observer) => experiment.observe_passes(observer),
            None => experiment,
        })
    }

    /// The experiment of some settings.
    pub(crate) fn experiment(
        &self,
        settings: &Settings,
        data: Arc<Dataset>,
    ) -> Result<Experiment, CliError> {
        let algorithm = self.algorithm(&settings.spec, &settings.hypers)?;
        let experiment = self.experiment_of(algorithm, &settings.model)?;
        Ok(experiment.data(data).settings(settings.run.clone()))
    }

    /// The model of some settings for inputs of this encoding, with nothing to train it on. Its data are
    /// zeros, and its algorithm is the one that adds nothing to the model.
    pub(crate) fn model_run(
        &self,
        settings: &Settings,
        encoding: &InputEncoding,
    ) -> Result<Run, CliError> {
        let experiment = self.experiment_of(Box::new(FedAvg::default()), &settings.model)?;
        let run = RunSettings {
            clients: 1,
            partition: Partition::Iid,
            augment: settings.run.augment.clone(),
            eval_batch: settings.run.eval_batch,
            threads: settings.run.threads,
            precision: settings.run.precision,
            exact_conv: settings.run.exact_conv,
            ..RunSettings::default()
        };
        let data = Arc::new(encoding.placeholder(encoding.classes.len().max(1))?);
        Ok(experiment.data(data).settings(run).prepare(1)?)
    }

    /// What the hyper-parameters of the command line do in a run.
    pub(crate) fn uses(&self, settings: &Settings, run: &Run) -> Result<Uses, CliError> {
        let given = (&*settings.spec, &*settings.hypers);
        Uses::of(&self.registry, given, &run.program().model().objective())
    }
}
