//! Algorithms and models by name, and their compilation for `graph` and `explain`.

use std::collections::BTreeSet;
use std::sync::Arc;

use burn::tensor::Device;
use fedround::experiment::{ExperimentError, Run, Settings as RunSettings, adapt, warnings};
use fedround::{Auxiliaries, Experiment, ModelSource};
use fedround_algorithms::{FedAvg, registry};
use fedround_data::{DataLocation, Dataset, DatasetInfo, InputEncoding, Partition};
use fedround_dsl::{BoxedAlgorithm, Objective, Registry};
use fedround_exec::{Program, Target};
use fedround_models::{AuxiliaryTask, Losses, MODELS, Model, ModelError, Task, Train, find};
use fedround_names::nearest;
use fedround_passes::PassManager;
use fedround_trace::TracedModel;

use crate::auxiliaries;
use crate::compile_args::Subject;
use crate::dead_hypers::{Uses, unused};
use crate::error::{CliError, at_least_one};
use crate::hypers::{self, Given, Setting};
use crate::pass_dump::observer;
use crate::run::{SettingArgs, TestArgs};
use crate::settings::Settings;
use crate::terminal::tell;

/// A model that a user's crate brings.
#[derive(Clone, Debug)]
pub(crate) struct OwnModel {
    pub name: &'static str,
    pub doc: &'static str,
    pub make: fn(Task, &Device) -> Box<dyn Model>,
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

/// An algorithm that is compiled without data.
pub(crate) struct Compiled {
    pub algorithm: BoxedAlgorithm,
    pub program: Program,
    pub auxiliaries: Auxiliaries,
}

impl Compiled {
    /// What its model is trained for, unless the algorithm says otherwise.
    pub(crate) fn objective(&self) -> Objective {
        self.program.model().objective()
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
        if let Some(&OwnModel { name, make, .. }) = self.models.iter().find(|own| own.name == name)
        {
            return Ok(ModelSource::Own { name, make });
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

    /// Compiles a subject for a target, under a pass manager of the caller's. A hyper-parameter that changes
    /// nothing is an error.
    pub(crate) fn compile(
        &self,
        subject: &Subject,
        target: Target,
        passes: &mut PassManager,
    ) -> Result<Compiled, CliError> {
        let (shapes, hypers) = (shapes(subject)?, hypers::assignments(&subject.set)?);
        let compiled = self.compile_with(subject, &hypers, (&shapes, target), passes)?;
        let uses = Uses::of(
            &self.registry,
            (&subject.spec, &hypers),
            &compiled.objective(),
        )?;
        uses.told(false).check(&subject.spec)?;
        warn(&compiled.program);
        Ok(compiled)
    }

    /// Compiles what a run trains, as far as that depends on no data.
    pub(crate) fn compile_run(&self, settings: &Settings) -> Result<Compiled, CliError> {
        let subject = subject(settings);
        let around = (&shapes(&subject)?, Target::default());
        self.compile_with(&subject, &settings.hypers, around, &mut PassManager::new())
    }

    /// The hyper-parameters of a spec that change nothing in it, as in `fedavg.lr`; `None` where it does not
    /// compile with the default model and data.
    pub(crate) fn unused_by_default(&self, spec: &str) -> Option<BTreeSet<String>> {
        let (flags, tests) = (SettingArgs::default(), TestArgs::default());
        let settings = Settings::resolve(&flags, &tests, Some(spec), None).ok()?;
        let compiled = self.compile_run(&settings).ok()?;
        self.unused(spec, &[], &compiled.objective()).ok()
    }

    /// The hyper-parameters that change nothing of what was compiled, as in `fedavg.lr`.
    pub(crate) fn unused(
        &self,
        spec: &str,
        hypers: &[Setting],
        objective: &Objective,
    ) -> Result<BTreeSet<String>, CliError> {
        unused(&self.registry, (spec, hypers), objective)
    }

    /// The names of settings that would be refused if all of them were given on a command line, of a model
    /// with an objective.
    pub(crate) fn refused(
        &self,
        spec: &str,
        settings: &[Setting],
        objective: &Objective,
    ) -> Result<Vec<String>, CliError> {
        let given = settings.iter().map(|setting| Setting {
            name: setting.name.clone(),
            value: Given::Text(setting.value.to_string()),
        });
        let hypers: Vec<Setting> = given.collect();
        Ok(Uses::of(&self.registry, (spec, &hypers), objective)?.dead)
    }

    /// What a run's model is trained for, unless the algorithm says otherwise. Nothing is compiled.
    pub(crate) fn objective(&self, settings: &Settings) -> Result<Objective, CliError> {
        let subject = subject(settings);
        let (_, model, _) = self.trace(&subject, &settings.hypers, &shapes(&subject)?)?;
        Ok(model.objective())
    }

    fn compile_with(
        &self,
        subject: &Subject,
        hypers: &[Setting],
        (shapes, target): (&Shapes, Target),
        passes: &mut PassManager,
    ) -> Result<Compiled, CliError> {
        let (algorithm, model, auxiliaries) = self.trace(subject, hypers, shapes)?;
        let program = Program::compile_with(&*algorithm, model, target, passes)?;
        Ok(Compiled {
            algorithm,
            program,
            auxiliaries,
        })
    }

    /// A subject's algorithm and model, ready to be compiled.
    fn trace(
        &self,
        subject: &Subject,
        hypers: &[Setting],
        (task, words, columns): &Shapes,
    ) -> Result<(BoxedAlgorithm, TracedModel, Auxiliaries), CliError> {
        at_least_one("clients", subject.clients)?;
        let algorithm = self.algorithm(&subject.spec, hypers)?;
        let around = AuxiliaryTask {
            task: *task,
            clients: subject.clients,
            variants: auxiliaries::choices(&subject.aux)?,
        };
        let model = self.model_of(&subject.model)?;
        let (model, auxiliaries) = match subject.train {
            Train::All => model.trace(&algorithm, &around, *words, &self.losses)?,
            Train::LowRank(adapters) => {
                let seed = RunSettings::default().seed;
                let adapt = |base| adapt(base, adapters, seed, None);
                model.trace_adapted(&algorithm, &around, *words, &self.losses, adapt)?
            }
        };
        let mut chosen = around.variants.into_keys();
        if let Some(name) = chosen.find(|name| !auxiliaries.contains_key(name)) {
            return Err(ExperimentError::UnusedAuxiliary { name }.into());
        }
        Ok((algorithm, model.with_columns(columns.clone()), auxiliaries))
    }
}

/// What of a run's settings its program depends on, without the hyper-parameters.
fn subject(settings: &Settings) -> Subject {
    let networks = settings.run.auxiliaries.iter();
    Subject {
        spec: settings.spec.clone(),
        model: settings.model.clone(),
        train: settings.run.train,
        aux: networks
            .map(|(name, variant)| format!("{name}={variant}"))
            .collect(),
        data: settings.data.to_string(),
        reading: settings.reading.clone(),
        clients: settings.run.clients,
        set: vec![],
    }
}

/// Name and shape of a column.
type NamedShape = (String, Vec<usize>);

/// What a program depends on of its data: the task, the number of words and the columns.
type Shapes = (Task, Option<usize>, Vec<NamedShape>);

/// The shapes of a subject's data. Only data of one's own is read.
fn shapes(subject: &Subject) -> Result<Shapes, CliError> {
    let place = subject.data.parse::<DataLocation>()?;
    let DataLocation::Bundled(name) = &place else {
        let data = subject.reading.read(&place, None)?;
        let task = Task {
            input: data.train.input_shape()?,
            classes: data.classes,
        };
        let columns = data.train.columns().iter();
        let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
        return Ok((task, None, columns.collect()));
    };
    let info = DatasetInfo::find(name)?;
    let task = Task {
        input: info.input_shape()?,
        classes: info.classes,
    };
    let columns = info.columns.iter();
    let columns = columns.map(|(name, shape)| ((*name).to_owned(), shape.to_vec()));
    Ok((task, info.words, columns.collect()))
}

/// Writes the compiler's warnings to stderr.
pub(crate) fn warn(program: &Program) {
    let warnings = warnings(program).into_iter();
    warnings.for_each(|warning| tell!("warning: {warning}"));
}
