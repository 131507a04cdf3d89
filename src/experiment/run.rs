//! A run that can start: its input is checked and its algorithm compiled.

use std::path::PathBuf;
use std::sync::Arc;

use fedround_data::partition::Split;
use fedround_data::{Dataset, Examples};
use fedround_exec::Program;
use fedround_exec::device::is_cpu;
use fedround_models::{LoadReport, Losses, Train, WeightsError};
use fedround_passes::PassManager;
use fedround_simulation::parties::{HeldOut, HostError, Parties, PartyHost};
use fedround_simulation::{FederatedDataset, Simulation};

use super::adapters::loadable;
use super::client_examples::{dealt, turned};
use super::client_scores::ClientTests;
use super::compile::{simulation, trace};
use super::evaluation::TestSet;
use super::input_checks::{check_layers, check_outputs, check_tokens};
use super::language::LanguageTest;
use super::memory::{self, MemoryEstimate};
use super::start::Start;
use super::validation::ValidationSet;
use super::{Experiment, ExperimentError, PROTECTED, Report, Settings, Warning, public, warnings};
use crate::model_source::ModelSource;

/// A compiled experiment with its data and the state of its training.
pub struct Run {
    pub(super) model: ModelSource,
    pub(super) losses: Losses,
    /// With the variants of all auxiliary networks that are used.
    pub(super) settings: Settings,
    pub(super) data: Arc<Dataset>,
    pub(super) simulation: Simulation,
    pub(super) tests: TestSet,
    /// Where clients hold some examples back.
    pub(super) validation: Option<ValidationSet>,
    pub(super) rounds: usize,
    pub(super) start: Start,
    /// The rounds until now.
    pub(super) report: Report,
    /// The same with an evaluation after the last round, where that is not one of those that are evaluated. A run
    /// of more rounds would not have it, and does not see it when it goes on from here.
    pub(super) ended: Option<Report>,
    /// Rounds that the goal made unnecessary.
    pub(super) left_out: usize,
    /// Whether the observer knows that a step is not replayed.
    pub(super) told_not_replayed: bool,
}

impl Run {
    /// Compiles an experiment for a dataset and what each client gets of it. A run that goes on has taken
    /// from files what it needs of them.
    pub(super) fn new(
        experiment: &Experiment,
        (data, public): (Arc<Dataset>, Option<Examples>),
        splits: Vec<Split>,
        rounds: usize,
        taken: Option<Start>,
    ) -> Result<Self, ExperimentError> {
        let mut settings = experiment.settings.clone();
        if settings.adversary && data.test.column(PROTECTED).is_none() {
            let data = data.name.clone();
            return Err(ExperimentError::NoProtected { data });
        }
        // Whoever gives the splits need not say how many there are.
        settings.clients = splits.len();
        let examples = turned(&data.train, &splits)?;
        let weights = match (&taken, &settings.weights) {
            (Some(taken), _) => taken.weights()?,
            (None, Some(file)) => Some(file.read()?),
            (None, None) => None,
        };
        let algorithm = &experiment.algorithm;
        let (model, used) = trace(
            (&experiment.model, &experiment.losses),
            &settings,
            algorithm,
            &data,
            (&examples, splits.len()),
            weights.as_ref(),
        )?;
        let mut chosen = settings.auxiliaries.keys();
        if let Some(name) = chosen.find(|name| !used.contains_key(*name)) {
            return Err(ExperimentError::UnusedAuxiliary { name: name.clone() });
        }
        settings.auxiliaries = used;
        let name = experiment.model.name();
        let language = LanguageTest::new(&data, name, &model.objective(), settings.beam)?;
        let mut read = vec![
            ("training examples", &data.train),
            ("test examples", &data.test),
        ];
        read.extend(public.iter().map(|public| (public::NAME, public)));
        check_tokens((&experiment.model, &model.objective()), &data, &read)?;
        let each = settings
            .track_clients
            .then(|| ClientTests::new(&data, &splits))
            .transpose()?;
        let tests = TestSet::new(data.test.clone(), &splits, language, each)?;
        let validation = ValidationSet::new(&examples, &splits);
        check_choices(&settings, validation.as_ref(), experiment.party.is_some())?;
        let dataset = FederatedDataset {
            examples,
            client_indices: dealt(splits, algorithm.centralized()),
        };
        let mut passes = PassManager::observed_by(experiment.passes.clone());
        let mut simulation = simulation(&settings, algorithm, model, dataset, &mut passes)?;
        check_layers(simulation.program())?;
        check_outputs(simulation.program(), &read)?;
        public::check(simulation.program(), &data, public.as_ref())?;
        if let Some(public) = public {
            simulation = simulation.with_public(public);
        }
        check_memory(&simulation, rounds, settings.threads)?;
        let leaves = loadable(simulation.program().model().model(), &settings.auxiliaries);
        if let Some(weights) = &weights {
            match simulation.load_weights(weights) {
                // The base of adapters has them already, if no network beside it is in the file.
                Err(WeightsError::Nothing { .. }) if settings.train != Train::All => {}
                loaded => drop(loaded?),
            }
        }
        let start = match taken {
            Some(taken) => taken,
            None => {
                let weights = (weights.as_ref(), leaves.as_slice());
                Start::from_files(&mut simulation, weights, settings.server_state.as_deref())?
            }
        };
        Ok(Self {
            simulation,
            told_not_replayed: false,
            start,
            tests,
            validation,
            model: experiment.model.clone(),
            losses: experiment.losses.clone(),
            settings,
            data,
            rounds,
            report: Report::default(),
            ended: None,
            left_out: 0,
        })
    }

    /// The settings, with the variants of all auxiliary networks that are used.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Which tensors the file of weights had, where the run starts from one.
    pub fn loaded_weights(&self) -> Option<&LoadReport> {
        self.start.report()
    }

    /// The names of the states of the server that were taken from a checkpoint of another run.
    pub fn loaded_server_states(&self) -> &[String] {
        &self.start.server_states
    }

    /// The dataset, before it was dealt.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// What is compiled.
    pub fn program(&self) -> &Program {
        self.simulation.program()
    }

    /// What in the algorithm is probably not meant so, such as a value that is sent and not read.
    pub fn warnings(&self) -> Vec<Warning> {
        warnings(self.program())
    }

    /// The simulation: untrained, or as the last round left it.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Keeps clients' states in this file where they outgrow
    /// [`Settings::client_memory`]; see
    /// [`Simulation::set_client_store`].
    ///
    /// # Errors
    ///
    /// As [`Simulation::set_client_store`].
    pub fn set_client_store(&mut self, path: impl Into<PathBuf>) -> Result<(), ExperimentError> {
        Ok(self.simulation.set_client_store(path)?)
    }

    /// Runs the code of clients at parties instead of here; see
    /// [`Simulation::with_parties`]. Not for a run that has begun, unless it is then
    /// [restored](Self::restore).
    ///
    /// # Errors
    ///
    /// As [`Simulation::with_parties`].
    pub fn with_parties(
        mut self,
        parties: Box<dyn Parties>,
        session: u64,
    ) -> Result<Self, ExperimentError> {
        self.simulation = self.simulation.with_parties(parties, session)?;
        Ok(self)
    }

    /// Skips the rounds up to this one that are still to come; see [`Simulation::skip_until`].
    pub fn skip_until(&mut self, round: usize) {
        self.simulation.skip_until(round);
    }

    /// Has hosts of several clients send sums over them; see
    /// [`Simulation::with_partial_sums`].
    #[must_use]
    pub fn with_partial_sums(mut self, sums: bool) -> Self {
        self.simulation = self.simulation.with_partial_sums(sums);
        self
    }

    /// Tells parties that the last round is kept, at the end of a run. Does nothing without parties.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn settle_parties(&mut self) -> Result<(), ExperimentError> {
        Ok(self.simulation.settle_parties()?)
    }

    /// A party of a federation: the host of some clients, with the examples that they do not train on.
    ///
    /// # Errors
    ///
    /// As [`PartyHost::new`].
    pub fn into_party(self, clients: Vec<usize>) -> Result<PartyHost, HostError> {
        let held_out = clients.iter().map(|&client| {
            let validation = self.validation.as_ref();
            let held_out = HeldOut {
                test: self.tests.of_client(client),
                validation: validation.and_then(|all| all.of_client(client)),
            };
            (client, held_out)
        });
        let held_out = held_out.collect();
        Ok(PartyHost::new(self.simulation, clients)?.with_held_out(held_out))
    }

    /// The simulation by itself, for callers that train round by round.
    pub fn into_simulation(self) -> Simulation {
        self.simulation
    }
}

/// An error if the run chooses by validation examples, and no client has enough examples to hold any back. A party
/// does not see those of others, and does not end phases.
fn check_choices(
    settings: &Settings,
    validation: Option<&ValidationSet>,
    of_party: bool,
) -> Result<(), ExperimentError> {
    let share = settings.validation;
    let action = if settings.keep.best() {
        "keep the best model"
    } else if settings.goal.is_some() && share.is_some() && !of_party {
        "tell when the goal is reached"
    } else {
        return Ok(());
    };
    match validation {
        Some(_) => Ok(()),
        None => Err(ExperimentError::NoChoice {
            action,
            validation: share,
        }),
    }
}

/// An error if the run needs more memory than there is.
fn check_memory(
    simulation: &Simulation,
    rounds: usize,
    threads: usize,
) -> Result<(), ExperimentError> {
    if !is_cpu(simulation.program().device()) {
        return Ok(());
    }
    let needed = MemoryEstimate::of(simulation, rounds, threads)?;
    match memory::limit().filter(|limit| needed.total() > *limit) {
        Some(limit) => Err(ExperimentError::Memory { needed, limit }),
        None => Ok(()),
    }
}
