//! Algorithms and models by name, and their compilation.

use burn::tensor::Device;
use fedround_data::DatasetInfo;
use fedround_dsl::BoxedAlgorithm;
use fedround_exec::{Program, Tracer};
use fedround_models::{MODELS, Model, ModelError, Task, find};
use fedround_passes::PassManager;

use super::Cli;
use super::args::Subject;
use super::error::{CliError, nearest};
use super::hypers::{self, Setting};

/// A model that a user's crate brings.
#[derive(Clone, Debug)]
pub(super) struct OwnModel {
    pub name: &'static str,
    pub doc: &'static str,
    pub make: fn(Task, &Device) -> Box<dyn Model>,
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

    /// A model ready to be traced.
    pub(super) fn tracer(&self, model: &str, task: Task) -> Result<Tracer, CliError> {
        let device = Device::default();
        let own = self.models.iter().find(|own| own.name == model);
        let built = match own {
            Some(own) => (own.make)(task, &device),
            None => find(model)
                .map_err(|e| self.unknown_model(model, e))?
                .build(task, &device)?,
        };
        Ok(Tracer::new(model, built, task, self.losses.clone()))
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
    pub(super) fn compile(&self, subject: &Subject) -> Result<(BoxedAlgorithm, Program), CliError> {
        self.compile_with(subject, &mut PassManager::from_env()?)
    }

    /// The same under a pass manager of the caller's.
    pub(super) fn compile_with(
        &self,
        subject: &Subject,
        passes: &mut PassManager,
    ) -> Result<(BoxedAlgorithm, Program), CliError> {
        let settings = hypers::assignments(&subject.set)?;
        let algorithm = self.algorithm(&subject.spec, &settings)?;
        let data = DatasetInfo::find(&subject.data)?;
        let task = Task {
            input: data.image_shape()?,
            classes: data.classes,
        };
        let tracer = self.tracer(&subject.model, task)?;
        let program =
            Program::compile_with(&*algorithm, tracer, fedround_exec::Device::Cpu, passes)?;
        warn(&program);
        Ok((algorithm, program))
    }
}

/// Shows what the compiler finds legal but seldom meant.
pub(super) fn warn(program: &Program) {
    for (_, program) in program.phases() {
        for warning in program.warnings() {
            eprintln!("warning: {warning}");
        }
    }
}
