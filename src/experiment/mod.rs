//! Experiments: one call that trains an algorithm over simulated clients, as `fedround run` does.
//!
//! ```
//! use fedround::Experiment;
//! use fedround::algorithms::FedAvg;
//! use fedround::data::{Partition, synth::SynthDigits};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = SynthDigits { train: 200, test: 50, ..SynthDigits::default() }.generate();
//! let report = Experiment::new(FedAvg::default())
//!     .model("logistic")
//!     .data(data)
//!     .clients(10)
//!     .partition(Partition::Iid)
//!     .seed(7)
//!     .run(3)?;
//! assert_eq!(report.rounds(), 3);
//! let scores = report.scores.expect("the last round is always evaluated");
//! println!("{} of the test examples are right", scores.accuracy);
//! # Ok(())
//! # }
//! ```
//!
//! [`Experiment::run_observed`] shows an [`Observer`] every round and lets it stop the experiment.
//! [`Experiment::prepare`] stops before the first round: it has checked and compiled everything, and
//! gives a [`Run`], which trains and can then be measured further. A run can be trained
//! [step by step](Run::step), [saved](Run::save) between two rounds and [restored](Run::restore) in
//! another process, where it goes on with the same bits.

mod accounting;
mod adapters;
mod adversary;
mod checkpoint;
mod checkpoint_data;
mod client_examples;
mod client_models;
mod client_scores;
mod compile;
mod error;
mod evaluation;
mod initial_weights;
mod input_checks;
mod input_error;
mod keep;
mod language;
mod memory;
mod model_file;
mod model_scores;
mod observer;
mod own_models;
mod party_share;
mod probe;
mod public;
mod report;
mod round;
mod run;
mod scores;
mod setters;
mod settings;
mod specs;
mod start;
mod trained;
mod training;
mod validation;
mod warnings;

use fedround_data::partition::{Split, hold_out};
use fedround_data::{DataSource, Examples};
use fedround_dsl::{Algorithm, BoxedAlgorithm};
use fedround_models::Losses;
use fedround_passes::PassObserver;
use fedround_store::Archive;

use crate::model_source::ModelSource;
use party_share::PartyShare;
use start::Start;

pub use accounting::privacy_spent;
pub use adapters::{adapt, merged, merged_own, whole_name};
pub use client_models::ClientModels;
pub use client_scores::{ClientScore, ClientScores};
pub use error::ExperimentError;
pub use initial_weights::InitialWeights;
pub use input_error::InputError;
pub use keep::{Keep, KeepError};
pub use memory::MemoryEstimate;
pub use model_file::write_model;
pub use model_scores::ModelScores;
pub use observer::Observer;
pub use report::{AttributeAuc, Best, OwnTensors, Parameters, Report, Status};
pub use round::Round;
pub use run::Run;
pub use scores::Scores;
pub use settings::Settings;
pub use specs::PROTECTED;
pub use warnings::{Warning, warnings};

/// The seed of generated datasets, and of random splits into training and test examples. It is not the
/// experiment's own seed, so that generated data is the same for every seed, as real data is.
pub const DATA_SEED: u64 = 0;

/// An algorithm with everything that its training depends on.
///
/// Results are a function of the algorithm, the model, the data and the [`Settings`]: the same
/// experiment gives the same bits again, whatever the number of threads. Only noise of differential privacy
/// is another one each time, unless [`reproducible_noise`](Self::reproducible_noise) is chosen.
pub struct Experiment {
    algorithm: BoxedAlgorithm,
    model: ModelSource,
    losses: Losses,
    data: Box<dyn DataSource>,
    public: Option<Examples>,
    splits: Option<Vec<Split>>,
    party: Option<PartyShare>,
    settings: Settings,
    passes: Option<PassObserver>,
}

impl Experiment {
    /// An experiment with an algorithm and, until others are chosen, the 2NN on drawn digits.
    pub fn new(algorithm: impl Algorithm) -> Self {
        Self {
            algorithm: Box::new(algorithm),
            model: "2nn".into(),
            losses: Losses::default(),
            data: Box::new("synth-digits"),
            public: None,
            splits: None,
            party: None,
            settings: Settings::default(),
            passes: None,
        }
    }

    /// Trains this model: a bundled one by name, or a [`ModelSource`].
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelSource>) -> Self {
        self.model = model.into();
        self
    }

    /// Adds losses of one's own to the bundled ones.
    #[must_use]
    pub fn losses(mut self, losses: Losses) -> Self {
        self.losses = losses;
        self
    }

    /// Trains and tests on this data: a dataset in memory, one by name, files of your own
    /// ([`DataSpec`](fedround_data::DataSpec)), or whatever else is a [`DataSource`].
    #[must_use]
    pub fn data(mut self, data: impl DataSource + 'static) -> Self {
        self.data = Box::new(data);
        self
    }

    /// Gives each client exactly these examples, in place of a partition. There are as many clients as splits,
    /// whatever [`clients`](Self::clients) says.
    #[must_use]
    pub fn splits(mut self, splits: Vec<Split>) -> Self {
        self.splits = Some(splits);
        self
    }

    /// Gives examples to these clients alone, as they are at one [party](Run::into_party) of a federation: their
    /// parts of the dataset of the whole federation. There must be as many [clients](Self::clients) as in the
    /// federation.
    #[must_use]
    pub fn of_party(mut self, clients: Vec<usize>) -> Self {
        self.party = Some(PartyShare {
            clients,
            own: false,
        });
        self
    }

    /// Like [`of_party`](Self::of_party), with a dataset that is the party's own: it is dealt to these clients.
    #[must_use]
    pub fn of_party_with_own_data(mut self, clients: Vec<usize>) -> Self {
        self.party = Some(PartyShare { clients, own: true });
        self
    }

    /// Shows every pass of the compiler to an observer, also those over what is compiled in later
    /// rounds.
    #[must_use]
    pub fn observe_passes(mut self, observer: PassObserver) -> Self {
        self.passes = Some(observer);
        self
    }

    /// Replaces all settings, also those that have setters of their own.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Loads the data, deals it and compiles the algorithm for `rounds` rounds. What cannot run is
    /// an error here, before anything has been trained.
    ///
    /// # Errors
    ///
    /// See [`ExperimentError`].
    pub fn prepare(mut self, rounds: usize) -> Result<Run, ExperimentError> {
        let splits = self.splits.take();
        self.build(splits, rounds, None)
    }

    /// As [`prepare`](Self::prepare), for a run that is then [restored](Run::restore) from this archive. The
    /// files of [weights](Self::weights) and of [states of the server](Self::server_state) that the run began
    /// with are not read again: the archive has what it took from them. If it has nothing of the kind, because the
    /// run began without files or an earlier version of fedround wrote the archive, the files of these settings
    /// are read.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare).
    pub fn prepare_to_restore(
        mut self,
        rounds: usize,
        archive: &Archive,
    ) -> Result<Run, ExperimentError> {
        let splits = self.splits.take();
        let taken = Start::saved(archive)?.filter(|start| !start.is_empty());
        self.build(splits, rounds, taken)
    }

    fn build(
        &self,
        splits: Option<Vec<Split>>,
        rounds: usize,
        taken: Option<Start>,
    ) -> Result<Run, ExperimentError> {
        self.settings.check(rounds)?;
        let data = self.data.load()?;
        data.check()?;
        let (clients, seed) = (self.settings.clients, self.settings.dealing_seed());
        let (data, public) = match (&self.public, self.settings.public_share) {
            (Some(_), Some(_)) => return Err(InputError::PublicTwice.into()),
            (None, Some(_)) if splits.is_some() => {
                return Err(InputError::PublicShareOfSplits.into());
            }
            (None, Some(_)) if self.party.as_ref().is_some_and(|party| party.own) => {
                return Err(InputError::PublicShareOfParty.into());
            }
            (None, Some(share)) => public::set_aside(data, share, seed),
            (given, _) => (data, given.clone()),
        };
        let mut splits = match (splits, &self.party) {
            (Some(splits), _) => {
                input_checks::check_splits(&splits, &data)?;
                splits
            }
            (None, Some(party)) => {
                let centralized = self.algorithm.centralized();
                party.splits(&self.settings, &data, centralized)?
            }
            (None, None) => self.settings.partition.deal(&data, clients, seed)?,
        };
        if let Some(fraction) = self.settings.validation {
            hold_out(&mut splits, fraction, seed)?;
        }
        Run::new(self, (data, public), splits, rounds, taken)
    }

    /// Trains `rounds` rounds.
    ///
    /// # Errors
    ///
    /// See [`ExperimentError`]. After the first round it is [`ExperimentError::Training`], which
    /// holds the report of the complete rounds.
    pub fn run(&self, rounds: usize) -> Result<Report, ExperimentError> {
        self.run_observed(rounds, &mut ())
    }

    /// Trains `rounds` rounds as [`run`](Self::run), and shows them to an observer.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_observed(
        &self,
        rounds: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report, ExperimentError> {
        let mut run = self.build(self.splits.clone(), rounds, None)?;
        run.warnings().iter().for_each(|it| observer.warned(it));
        run.train(observer)
    }
}
