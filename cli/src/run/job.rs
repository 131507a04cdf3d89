//! One run as a function: `run` calls it once, `compare` for each run of its grid.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fedround_data::Dataset;
use fedround_data::partition::Split;
use fedround_dsl::Algorithm;
use fedround_exec::{Program, RunError, Simulation};

use super::folder::Folder;
use super::local::Tests;
use super::progress::Progress;
use super::speech::Speech;
use super::summary::Summary;
use super::train::{Outcome, train};
use crate::Cli;
use crate::config::Config;
use crate::error::CliError;
use crate::inspect::{PROTECTED, exposed};
use crate::plot::Series;
use crate::settings::Settings;

/// Synthetic data is the same for every seed of a run, as real data is.
pub(crate) const DATA_SEED: u64 = 0;

/// A run that can start: its input has been checked, and its algorithm compiled.
pub(crate) struct Job {
    /// With all auxiliary networks that are used.
    settings: Settings,
    config: Config,
    class_names: Vec<String>,
    simulation: Simulation,
    tests: Tests,
    /// What adversaries look for attributes in, where they do.
    exposed: Option<Dataset>,
}

/// Who trains on which examples: every client on its own, but for centralised training, which is
/// one client's on all.
pub(crate) fn parts(
    algorithm: &dyn Algorithm,
    own: impl Iterator<Item = Vec<usize>>,
) -> Vec<Vec<usize>> {
    match algorithm.centralized() {
        true => vec![own.flatten().collect()],
        false => own.collect(),
    }
}

/// The accuracy of each class over the rounds in which it was measured.
fn lines(outcome: &Outcome, names: &[String]) -> Vec<Series> {
    let points = |class: usize| {
        let all = outcome.curve.iter().zip(&outcome.classes);
        let own = all.filter_map(|(p, each)| Some((p.round as f64, *each.get(class)?)));
        own.collect()
    };
    let named = names.iter().enumerate();
    named
        .map(|(class, name)| Series {
            name: name.clone(),
            points: points(class),
        })
        .collect()
}

impl Job {
    /// Compiles the algorithm for a dataset and what each client gets of it, for training and for
    /// tests.
    pub fn new(
        cli: &Cli,
        settings: &Settings,
        algorithm: &dyn Algorithm,
        data: &Dataset,
        splits: &[Split],
    ) -> Result<Self, CliError> {
        if settings.adversary && data.test.column(PROTECTED).is_none() {
            let data = data.name.clone();
            return Err(CliError::NoProtected { data });
        }
        let mut examples = data.train.clone();
        for split in splits {
            if let Some(rotation) = split.rotation {
                examples = rotation.turned(&examples, &split.train)?;
            }
        }
        let of = (&examples, splits.len());
        let (tracer, aux) = cli.tracer_of(settings, algorithm, data, of)?;
        let about = (settings.model.as_str(), &tracer.objective());
        let speech = Speech::of(data, about, settings.beam)?;
        let parts = parts(algorithm, splits.iter().map(|split| split.train.clone()));
        let simulation = Cli::simulation(settings, algorithm, tracer, examples, parts)?;
        Ok(Self {
            config: settings.config(algorithm),
            settings: Settings {
                aux,
                ..settings.clone()
            },
            class_names: data.class_names.clone(),
            simulation,
            tests: Tests::new(data.test.clone(), splits, speech)?,
            exposed: settings.adversary.then(|| data.clone()),
        })
    }

    /// What it is to run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What it runs under, with all auxiliary networks that are used.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is compiled.
    pub fn program(&self) -> &Program {
        self.simulation.program()
    }

    /// Everything that is to run, for others to run it.
    pub fn into_simulation(self) -> Simulation {
        self.simulation
    }

    /// Trains, and writes everything to the folder. A round that fails ends the run; what was
    /// there before it is in the folder like all else.
    pub fn run(
        mut self,
        cli: &Cli,
        folder: &Folder,
        progress: &mut Progress,
        stop: &AtomicBool,
        started: Instant,
    ) -> Result<(Summary, Option<RunError>), CliError> {
        let (simulation, settings) = (&mut self.simulation, &self.settings);
        let outcome = train(simulation, &self.tests, settings, folder, progress, stop)?;
        folder.model(&simulation.parameters())?;
        if outcome.classes.iter().any(|each| !each.is_empty()) {
            folder.classes(&lines(&outcome, &self.class_names))?;
        }
        let mut summary = Summary::new(
            settings,
            &self.config,
            &outcome,
            &self.class_names,
            simulation.program().parameter_count(),
            folder.dir(),
            started.elapsed(),
        );
        if let (Some(data), None) = (&self.exposed, &outcome.failure) {
            summary.adversary = exposed(cli, settings, data, simulation)?;
        }
        summary.graphs = simulation.capture_stats().map(Into::into);
        folder.summary(&summary.text()?)?;
        Ok((summary, outcome.failure))
    }
}
