//! Algorithms and models by name, and their compilation.

use std::collections::BTreeSet;

use burn::tensor::Device;
use fedround_algorithms::registry;
use fedround_data::{Dataset, DatasetInfo, Examples};
use fedround_dsl::{Algorithm, BoxedAlgorithm, phases};
use fedround_exec::{FederatedDataset, Program, Simulation, Target, TracedModel, assemble_for};
use fedround_models::{AuxiliaryTask, MODELS, Model, ModelError, Task, find};
use fedround_passes::PassManager;
use fedround_passes::fed::link;

use super::Cli;
use super::args::Subject;
use super::auxiliaries::{self, Auxiliaries};
use super::error::CliError;
use super::hypers::{self, Setting};
use super::output::tell;
use super::settings::Settings;
use fedround_names::nearest;

/// A model that a user's crate brings.
#[derive(Clone, Debug)]
pub(super) struct OwnModel {
    pub name: &'static str,
    pub doc: &'static str,
    pub make: fn(Task, &Device) -> Box<dyn Model>,
}

/// What `graph` and `explain` are about.
pub(super) struct Compiled {
    pub algorithm: BoxedAlgorithm,
    pub program: Program,
    pub auxiliaries: Auxiliaries,
}

impl Cli {
    /// The algorithm of a text with its hyper-parameters set, the later setting winning.
    pub(super) fn algorithm(
        &self,
        spec: &str,
        settings: &[Setting],
    ) -> Result<BoxedAlgorithm, CliError> {
        let mut algorithm = self.registry.parse(spec)?;
        for setting in settings {
            hypers::apply(&mut *algorithm, setting)?;
        }
        Ok(algorithm)
    }

    /// A model ready to be traced, with the networks that the algorithm needs beside it; `words` are
    /// those of the data, if it has some.
    pub(super) fn tracer(
        &self,
        model: &str,
        algorithm: &dyn Algorithm,
        around: &AuxiliaryTask,
        words: Option<usize>,
    ) -> Result<(TracedModel, Auxiliaries), CliError> {
        let (task, device) = (around.task, Device::flex());
        let own = self.models.iter().find(|own| own.name == model);
        let built = match own {
            Some(own) => (own.make)(task, &device),
            None => find(model)
                .map_err(|e| self.unknown_model(model, e))?
                .build_with(task, words, &device)?,
        };
        let assembled = assemble_for(algorithm, built, around, &device)?;
        let tracer = TracedModel::new(model, assembled.model, task, self.losses.clone());
        Ok((tracer, auxiliaries::used(&assembled.auxiliaries)))
    }

    /// A run's model ready to be traced for `examples`, which `clients` have: those of a federation, or
    /// others of its classes and words.
    pub(super) fn tracer_of(
        &self,
        settings: &Settings,
        algorithm: &dyn Algorithm,
        data: &Dataset,
        (examples, clients): (&Examples, usize),
    ) -> Result<(TracedModel, Auxiliaries), CliError> {
        let around = AuxiliaryTask {
            task: Task {
                input: settings.augment.output_shape(examples.input_shape()?)?,
                classes: data.classes,
            },
            clients,
            variants: settings.aux.clone(),
        };
        let columns = examples.columns().iter();
        let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
        let words = data.language.as_ref().map(|of| of.vocabulary.len());
        let (tracer, aux) = self.tracer(&settings.model, algorithm, &around, words)?;
        Ok((tracer.with_columns(columns.collect()), aux))
    }

    /// Compiles a run.
    pub(super) fn simulation(
        settings: &Settings,
        algorithm: &dyn Algorithm,
        tracer: TracedModel,
        examples: Examples,
        parts: Vec<Vec<usize>>,
    ) -> Result<Simulation, CliError> {
        let devices = &settings.devices;
        let target = devices.first().with_precision(settings.precision);
        let target = target.with_convolutions(settings.convolutions.clone());
        let program = Program::compile_for(algorithm, tracer, target)?;
        let dataset = FederatedDataset {
            examples,
            client_indices: parts,
        };
        let (seed, threads) = (settings.seed, settings.threads);
        let simulation = Simulation::new(program, dataset, seed, threads);
        let simulation = simulation.map_err(|source| CliError::Threads {
            threads,
            message: source.to_string(),
        })?;
        let simulation = simulation.with_augment(settings.augment.clone());
        let simulation = simulation.with_personal(algorithm)?;
        let simulation = simulation.with_cohort_batch(settings.cohort_batch);
        let simulation = simulation.with_late_client(settings.newcomer);
        let simulation = simulation.and_then(|simulation| simulation.with_devices(devices.more()));
        let simulation =
            simulation.and_then(|simulation| simulation.with_graph_capture(settings.graphs));
        simulation.map_err(|source| CliError::Run {
            source: Box::new(source),
            kept: None,
        })
    }

    /// The bundled models' error, with the user's own models among the known ones.
    fn unknown_model(&self, name: &str, error: ModelError) -> ModelError {
        if self.models.is_empty() {
            return error;
        }
        let bundled = MODELS.map(|m| m.name);
        let names = || self.models.iter().map(|m| m.name).chain(bundled);
        ModelError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        }
    }

    /// Compiles what `graph` and `explain` are about.
    pub(super) fn compile(&self, subject: &Subject) -> Result<Compiled, CliError> {
        self.compile_with(subject, Target::default(), &mut PassManager::from_env()?)
    }

    /// The same for a target, under a pass manager of the caller's.
    pub(super) fn compile_with(
        &self,
        subject: &Subject,
        target: Target,
        passes: &mut PassManager,
    ) -> Result<Compiled, CliError> {
        let settings = hypers::assignments(&subject.set)?;
        let algorithm = self.algorithm(&subject.spec, &settings)?;
        let data = DatasetInfo::find(&subject.data)?;
        let around = AuxiliaryTask {
            task: Task {
                input: data.input_shape()?,
                classes: data.classes,
            },
            clients: subject.clients,
            variants: auxiliaries::choices(&subject.aux)?,
        };
        let (tracer, auxiliaries) =
            self.tracer(&subject.model, &*algorithm, &around, data.words)?;
        auxiliaries::check(&around.variants, &auxiliaries)?;
        let columns = data.columns.iter();
        let columns = columns.map(|(name, shape)| ((*name).to_owned(), shape.to_vec()));
        let tracer = tracer.with_columns(columns.collect());
        let program = Program::compile_with(&*algorithm, tracer, target, passes)?;
        warn(&program);
        Ok(Compiled {
            algorithm,
            program,
            auxiliaries,
        })
    }
}

/// Shows what the compiler finds legal but seldom meant.
pub(super) fn warn(program: &Program) {
    let warnings = warnings(program).into_iter();
    warnings.for_each(|warning| tell!("warning: {warning}"));
}

/// What the compiler finds so, but for what it finds in a bundled spec over its own base, which means
/// it.
pub(super) fn warnings(program: &Program) -> Vec<String> {
    let of_phases = program.phases().into_iter();
    let all = of_phases.flat_map(|(_, program)| program.warnings().iter());
    let mut all: Vec<String> = all.map(ToString::to_string).collect();
    if !all.is_empty() {
        let meant = meant();
        all.retain(|warning| !meant.contains(warning));
    }
    all
}

/// The warnings of the bundled specs over their own bases. A phase before the last has no use for some
/// of what the last has.
fn meant() -> BTreeSet<String> {
    let bundled = registry();
    let specs = bundled.names().into_iter();
    let phases = specs.filter_map(|name| phases(&*bundled.parse(name).ok()?).ok());
    let linked = phases.filter_map(|mut phases| link(phases.pop()?.module).ok());
    let warnings = linked.flat_map(|linked| linked.warnings);
    warnings.map(|warning| warning.to_string()).collect()
}
