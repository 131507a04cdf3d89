//! One run before it is trained: what is asked of it, told of it and restored.

use std::path::Path;
use std::sync::Arc;

use fedround::experiment::{Run, privacy_spent};
#[cfg(feature = "flower")]
use fedround::federation::Terms;
use fedround::privacy::{delta_text, smaller_delta};
use fedround_data::Dataset;
use fedround_exec::Program;
use fedround_simulation::Simulation;
#[cfg(feature = "flower")]
use fedround_simulation::parties::Parties;
use fedround_store::Archive;

use super::folder::STATES;
use super::metric::Metric;
use super::phases::phase;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::settings::dead_hypers::Uses;
use crate::settings::weights::LoadedWeights;
#[cfg(feature = "flower")]
use crate::terminal::tell;

/// A run that can start: its input has been checked, and its algorithm compiled.
pub(crate) struct Job {
    /// With all auxiliary networks that are used.
    pub(super) settings: Settings,
    pub(super) config: Config,
    /// As it was read. The run may have set some of its examples aside.
    pub(super) data: Arc<Dataset>,
    pub(super) run: Run,
}

impl Job {
    /// Compiles the algorithm for a dataset.
    pub fn new(
        catalog: &Catalog,
        settings: &Settings,
        data: Arc<Dataset>,
    ) -> Result<Self, CliError> {
        Self::to_restore(catalog, settings, data, None)
    }

    /// The same of a run that is then restored from a checkpoint, where there is one. The checkpoint has what
    /// the run took from other files.
    pub(crate) fn to_restore(
        catalog: &Catalog,
        settings: &Settings,
        data: Arc<Dataset>,
        checkpoint: Option<&Archive>,
    ) -> Result<Self, CliError> {
        let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
        let experiment = catalog.experiment(settings, data.clone())?;
        let rounds = settings.rounds;
        let run = match checkpoint {
            Some(archive) => experiment.prepare_to_restore(rounds, archive)?,
            None => experiment.prepare(rounds)?,
        };
        Ok(Self {
            config: settings.config(&*algorithm),
            settings: Settings {
                run: run.settings().clone(),
                ..settings.clone()
            },
            data,
            run,
        })
    }

    /// The settings as a file.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The settings, with all auxiliary networks that are used.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the run took from a file of weights, where it starts from one.
    pub fn loaded_weights(&self) -> Option<LoadedWeights> {
        LoadedWeights::of(&self.run)
    }

    /// What to say before the run.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.delta_warning()
            .into_iter()
            .chain(self.unread_questions())
    }

    /// That the model does not read the questions of the data.
    fn unread_questions(&self) -> Option<String> {
        let data = &self.data;
        let asks = data.language.is_some() && data.test.column("references").is_none();
        let reads = !self.program().model().objective().inputs.is_empty();
        (asks && !reads).then(|| {
            format!(
                "`{}` reads no words, so the questions of `{}` are not used; `vqa` and `vqa-small` read them",
                self.settings.model, data.name
            )
        })
    }

    /// What to say of a `δ` that is large for the number of examples.
    fn delta_warning(&self) -> Option<String> {
        let own = &self.run.simulation().dataset().client_indices;
        let examples = own.iter().map(Vec::len).sum();
        let delta = self.settings.run.delta;
        let smaller = smaller_delta(self.program(), delta, examples)?;
        let delta = delta_text(delta);
        Some(format!(
            "δ = {delta} is not below 1/N of N = {examples} examples: such a δ allows that an example is revealed completely; --delta {smaller:e} does not"
        ))
    }

    /// What the hyper-parameters of the command line do.
    pub fn uses(&self, catalog: &Catalog) -> Result<Uses, CliError> {
        catalog.uses(&self.settings, &self.run)
    }

    /// What is compiled.
    pub fn program(&self) -> &Program {
        self.run.program()
    }

    /// Goes to where the run was when a checkpoint was written.
    pub(crate) fn restore(&mut self, archive: &Archive) -> Result<(), CliError> {
        Ok(self.run.restore(archive)?)
    }

    /// Skips the rounds up to `begun`, the last one that another process has begun and in which noise was told.
    #[cfg(feature = "flower")]
    pub(crate) fn skip_begun(&mut self, begun: usize) {
        self.run.skip_until(begun);
        let next = self.run.report().rounds() + 1;
        for round in next..=begun {
            tell!(
                "round {round} was begun before: what was told with noise counts in ε, and the round is skipped"
            );
        }
    }

    /// Keeps clients' states in a file of a run folder.
    pub(crate) fn keep_clients(&mut self, dir: &Path) -> Result<(), CliError> {
        Ok(self.run.set_client_store(dir.join(STATES))?)
    }

    /// The simulation: untrained, or as the last round left it.
    pub(crate) fn simulation(&self) -> &Simulation {
        self.run.simulation()
    }

    /// Checks that the program can run between a server and parties, and gives its hash.
    #[cfg(feature = "flower")]
    pub(crate) fn check_parties(&self) -> Result<String, CliError> {
        for (_, phase) in self.program().phases() {
            phase.parties()?;
        }
        Ok(self.run.simulation().graph_hash()?)
    }

    /// What parties must have alike beside the program. Of parties with datasets of their own, it is nothing about
    /// the examples.
    #[cfg(feature = "flower")]
    pub(crate) fn terms(&self, own_data: bool) -> Terms {
        Terms::of(&self.run, own_data)
    }

    /// Runs the code of clients at parties, which may send sums over clients.
    #[cfg(feature = "flower")]
    pub(crate) fn with_parties(
        self,
        parties: Box<dyn Parties>,
        session: u64,
        sums: bool,
    ) -> Result<Self, CliError> {
        let run = self.run.with_parties(parties, session)?;
        let run = run.with_partial_sums(sums);
        Ok(Self { run, ..self })
    }

    /// Lines of the metrics until now.
    pub(super) fn metrics(&self) -> impl Iterator<Item = Metric> {
        let (report, inputs) = (self.run.report(), self.run.privacy_inputs());
        report.history.iter().enumerate().map(move |(i, round)| {
            let goal = report.goal_round.filter(|goal| *goal < round.number);
            let until = &report.history[..=i];
            let spent = privacy_spent(self.run.program(), inputs, until, goal);
            let phase = phase(self.run.program(), round.number, report.goal_round);
            Metric::of(round, phase, spent.as_ref())
        })
    }

    /// The round in which the goal was reached, if that made later ones unnecessary.
    pub(super) fn ending_goal(&self) -> Option<usize> {
        let (done, left) = self.rounds();
        let goal = self.run.report().goal_round;
        goal.filter(|_| done + left < self.settings.rounds)
    }

    /// The rounds that are complete, and those that are left.
    pub(super) fn rounds(&self) -> (usize, usize) {
        (self.run.report().rounds(), self.run.rounds_left())
    }
}
