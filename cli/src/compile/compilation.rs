//! Compiles the algorithms and models of a catalog, without a run's data.

use std::collections::BTreeSet;

use fedround::Auxiliaries;
use fedround::experiment::{ExperimentError, Settings as RunSettings, adapt, warnings};
use fedround_data::{DataLocation, DatasetInfo};
use fedround_dsl::{BoxedAlgorithm, Objective};
use fedround_exec::{Program, Target};
use fedround_models::{AuxiliaryTask, Task, Train};
use fedround_passes::PassManager;
use fedround_trace::TracedModel;

use super::args::Subject;
use crate::catalog::Catalog;
use crate::error::{CliError, at_least_one};
use crate::run::{SettingArgs, TestArgs};
use crate::settings::Settings;
use crate::settings::auxiliaries;
use crate::settings::dead_hypers::{Uses, unused};
use crate::settings::hypers::{self, Given, Setting};
use crate::settings::read_args::ReadArgs;
use crate::terminal::tell;

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
    /// Compiles a subject for a target, under a pass manager of the caller's. A hyper-parameter that changes
    /// nothing is an error.
    pub(crate) fn compile(
        &self,
        subject: &Subject,
        target: Target,
        passes: &mut PassManager,
    ) -> Result<Compiled, CliError> {
        let place: DataLocation = subject.data.parse()?;
        let shapes = shapes(&place, &subject.reading)?;
        let hypers = hypers::assignments(&subject.set)?;
        at_least_one("clients", subject.clients)?;
        let algorithm = self.algorithm(&subject.spec, &hypers)?;
        let around = (subject.clients, auxiliaries::choices(&subject.aux)?);
        let traced = self.trace(algorithm, (&subject.model, subject.train), around, shapes)?;
        let compiled = traced.compile(target, passes)?;
        let uses = Uses::of(
            &self.registry,
            (&subject.spec, &hypers),
            &compiled.objective(),
        )?;
        uses.told().check(&subject.spec)?;
        warn(&compiled.program);
        Ok(compiled)
    }

    /// Compiles what a run trains, as far as that depends on no data.
    pub(crate) fn compile_run(&self, settings: &Settings) -> Result<Compiled, CliError> {
        let traced = self.trace_run(settings)?;
        traced.compile(Target::default(), &mut PassManager::new())
    }

    /// The hyper-parameters of a spec that change nothing in it, as in `fedavg.lr`; `None` where it does not
    /// compile with the default model and data.
    pub(crate) fn unused_by_default(&self, spec: &str) -> Option<BTreeSet<String>> {
        let (flags, tests) = (SettingArgs::default(), TestArgs::default());
        let settings = Settings::resolve(&flags, &tests, Some(spec), None).ok()?;
        let compiled = self.compile_run(&settings).ok()?;
        unused(&self.registry, (spec, &[]), &compiled.objective()).ok()
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
            value: Given::Text {
                text: setting.value.to_string(),
                flag: hypers::SET,
            },
        });
        let hypers: Vec<Setting> = given.collect();
        let dead = Uses::of(&self.registry, (spec, &hypers), objective)?.dead;
        Ok(dead.into_iter().map(|dead| dead.name).collect())
    }

    /// What a run's model is trained for, unless the algorithm says otherwise. Nothing is compiled.
    pub(crate) fn objective(&self, settings: &Settings) -> Result<Objective, CliError> {
        Ok(self.trace_run(settings)?.model.objective())
    }

    /// What a run trains, ready to be compiled.
    fn trace_run(&self, settings: &Settings) -> Result<Traced, CliError> {
        let (run, shapes) = (&settings.run, shapes(&settings.data, &settings.reading)?);
        at_least_one("clients", run.clients)?;
        let algorithm = self.algorithm(&settings.spec, &settings.hypers)?;
        let around = (run.clients, run.auxiliaries.clone());
        self.trace(algorithm, (&settings.model, run.train), around, shapes)
    }

    /// Traces the part of a model that trains, with auxiliary networks of chosen variants, for so many clients.
    fn trace(
        &self,
        algorithm: BoxedAlgorithm,
        (model, train): (&str, Train),
        (clients, variants): (usize, Auxiliaries),
        (task, words, columns): Shapes,
    ) -> Result<Traced, CliError> {
        let around = AuxiliaryTask {
            task,
            clients,
            variants,
        };
        let model = self.model_of(model)?;
        let (model, auxiliaries) = match train {
            Train::All => model.trace(&algorithm, &around, words, &self.losses)?,
            Train::LowRank(adapters) => {
                let seed = RunSettings::default().seed;
                let adapt = |base| adapt(base, adapters, seed, None);
                model.trace_adapted(&algorithm, &around, words, &self.losses, adapt)?
            }
        };
        let mut chosen = around.variants.into_keys();
        if let Some(name) = chosen.find(|name| !auxiliaries.contains_key(name)) {
            return Err(ExperimentError::UnusedAuxiliary { name }.into());
        }
        Ok(Traced {
            algorithm,
            model: model.with_columns(columns),
            auxiliaries,
        })
    }
}

/// An algorithm and a model, ready to be compiled.
struct Traced {
    algorithm: BoxedAlgorithm,
    model: TracedModel,
    auxiliaries: Auxiliaries,
}

impl Traced {
    fn compile(self, target: Target, passes: &mut PassManager) -> Result<Compiled, CliError> {
        let program = Program::compile_with(&*self.algorithm, self.model, target, passes)?;
        Ok(Compiled {
            algorithm: self.algorithm,
            program,
            auxiliaries: self.auxiliaries,
        })
    }
}

/// Name and shape of a column.
type NamedShape = (String, Vec<usize>);

/// What a program depends on of its data: the task, the number of words and the columns.
type Shapes = (Task, Option<usize>, Vec<NamedShape>);

/// The shapes of data. Only data of one's own is read.
fn shapes(place: &DataLocation, reading: &ReadArgs) -> Result<Shapes, CliError> {
    let DataLocation::Bundled(name) = place else {
        let data = reading.read(place, None)?;
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

/// Writes the warnings about a program to stderr.
pub(crate) fn warn(program: &Program) {
    let warnings = warnings(program).into_iter();
    warnings.for_each(|warning| tell!("warning: {warning}"));
}
