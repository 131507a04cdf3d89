//! A run's settings: defaults, then the config file, then the flags.

pub(crate) mod auxiliaries;
pub(crate) mod config;
pub(crate) mod dead_hypers;
pub(crate) mod difference;
pub(crate) mod faults;
mod field_names;
mod fitted;
pub(crate) mod hypers;
pub(crate) mod includes;
pub(crate) mod read_args;
pub(crate) mod settings_file;
pub(crate) mod weights;
mod written;

use std::path::PathBuf;
use std::sync::Arc;

use fedround::experiment::{self, ExperimentError};
use fedround_data::{DataLocation, Dataset, Partition};
use fedround_exec::Devices;

use crate::error::CliError;
use crate::files::convolution_cache::in_user_folder;
use crate::run::{CheckpointEvery, SettingArgs, TestArgs, Track};
use config::Config;
use faults::FaultArgs;
use hypers::Setting;
use read_args::ReadArgs;
use settings_file::SettingsFile;

/// Default dataset.
pub(crate) const DATA: &str = "synth-digits";
/// Default model.
pub(crate) const MODEL: &str = "2nn";
/// Default number of clients.
pub(crate) const CLIENTS: usize = 100;
const ROUNDS: usize = 200;
/// Default memory of clients' states.
const CLIENT_MEMORY: &str = "1GiB";

/// Everything a run depends on, with names in place of what they name.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub spec: String,
    pub hypers: Vec<Setting>,
    pub data: DataLocation,
    /// Where the files of bundled datasets are, if not in `data`.
    pub data_dir: Option<PathBuf>,
    /// How data of one's own is read, as it is written.
    pub reading: ReadArgs,
    pub model: String,
    pub rounds: usize,
    /// Test accuracy of which the rounds and bytes that it takes are reported.
    pub target: Option<f64>,
    /// Clients that fail or are late, as they are written.
    pub faults: FaultArgs,
    /// When checkpoints are written.
    pub checkpoint: CheckpointEvery,
    /// Formats that metrics are written in beside `metrics.jsonl`.
    pub track: Vec<Track>,
    /// Everything else.
    pub run: experiment::Settings,
    /// The dataset and where it is, if it had to be read to count its clients.
    pub counted: Option<(DataLocation, Arc<Dataset>)>,
    /// The file of --config.
    pub file: Option<SettingsFile>,
}

impl Settings {
    /// Lays flags, among them what to run with which seed, over the config file over the defaults.
    pub fn resolve(
        args: &SettingArgs,
        tests: &TestArgs,
        spec: Option<&str>,
        seed: Option<u64>,
    ) -> Result<Self, CliError> {
        let file = match &args.config {
            Some(path) => Config::read(path)?,
            None => Config::default(),
        };
        let of_file = args.config.as_ref().map(|path| SettingsFile {
            path: path.clone(),
            spec: file.spec.clone(),
        });
        Ok(Self {
            file: of_file,
            ..Self::over(file, args, tests, spec, seed)?
        })
    }

    /// Lays flags over a file's settings.
    pub fn over(
        file: Config,
        args: &SettingArgs,
        tests: &TestArgs,
        spec: Option<&str>,
        seed: Option<u64>,
    ) -> Result<Self, CliError> {
        let mut hypers = hypers::from_toml(&file.hyper)?;
        hypers.extend(hypers::assignments(&args.set)?);
        let faults = args.faults.over(file.faults.clone()).absolute();
        let run = of_experiment(&file, args, tests, seed, &faults)?;
        let rounds = args.rounds.or(file.rounds).unwrap_or(ROUNDS);
        run.check(rounds)?;
        let target = tests.target.or(file.target);
        if let Some(found) = target.filter(|target| !(*target > 0.0 && *target <= 1.0)) {
            let name = "target";
            return Err(ExperimentError::Accuracy { name, found }.into());
        }
        let checkpoint = text(&args.checkpoint, &file.checkpoint, "auto").parse()?;
        let clients_known = args.clients.or(file.clients).is_some();
        let spec = spec.or(file.spec.as_deref()).ok_or(CliError::NoSpec)?;
        let data: DataLocation = text(&args.data, &file.data, DATA).parse()?;
        let settings = Self {
            spec: spec.trim().to_owned(),
            hypers,
            data: data.absolute(),
            reading: args.reading.over(file.reading),
            data_dir: args.data_dir.clone().or(file.data_dir),
            model: text(&args.model, &file.model, MODEL).to_owned(),
            rounds,
            target,
            faults,
            checkpoint,
            track: file.track,
            run,
            counted: None,
            file: None,
        };
        match settings.run.partition {
            Partition::Natural if !clients_known => settings.all_clients(),
            _ => Ok(settings),
        }
    }

    /// The same with every client that the data names.
    fn all_clients(mut self) -> Result<Self, CliError> {
        let data = self.load()?;
        self.run.clients = data.clients().unwrap_or(self.run.clients);
        self.counted = Some((self.data.clone(), data));
        Ok(self)
    }

    /// The dataset.
    pub fn load(&self) -> Result<Arc<Dataset>, CliError> {
        match &self.counted {
            Some((place, data)) if *place == self.data => Ok(data.clone()),
            _ => Ok(Arc::new(
                self.reading.read(&self.data, self.data_dir.as_deref())?,
            )),
        }
    }
}

/// A flag over a file's key over a default.
fn text<'a>(flag: &'a Option<String>, file: &'a Option<String>, default: &'a str) -> &'a str {
    flag.as_deref().or(file.as_deref()).unwrap_or(default)
}

/// What the library is told of a run: flags over a file's settings over its defaults.
fn of_experiment(
    file: &Config,
    args: &SettingArgs,
    tests: &TestArgs,
    seed: Option<u64>,
    faults: &FaultArgs,
) -> Result<experiment::Settings, CliError> {
    let engine = &args.engine;
    let default = experiment::Settings::default();
    let mut auxiliaries = file.aux.clone();
    auxiliaries.extend(auxiliaries::choices(&args.aux)?);
    // What the file says of weights is of its own.
    let (path, renames, states) = match &args.weights {
        Some(path) => (Some(path.clone()), &args.rename, false),
        None => {
            let states = file.server_state.unwrap_or(false);
            (file.weights.clone(), &file.rename, states)
        }
    };
    let weights = weights::source(path, renames)?;
    let server_state = weights
        .as_ref()
        .filter(|_| args.server_state || states)
        .map(weights::server_state);
    let partition = args.partition.as_ref().or(file.partition.as_ref());
    let late_client = args.newcomer.as_ref().or(file.newcomer.as_ref());
    Ok(experiment::Settings {
        clients: args.clients.or(file.clients).unwrap_or(default.clients),
        partition: match partition {
            Some(text) => text.parse()?,
            None => default.partition,
        },
        seed: seed.or(file.seed).unwrap_or(default.seed),
        partition_seed: args.partition_seed.or(file.partition_seed),
        weights,
        server_state: server_state.transpose()?,
        reproducible_noise: !args.system_noise
            && (args.reproducible_noise || file.reproducible_noise.unwrap_or(false)),
        delta: args.delta.or(file.delta).unwrap_or(default.delta),
        train: text(&args.train, &file.train, "all").parse()?,
        augment: text(&args.augment, &file.augment, "none").parse()?,
        auxiliaries,
        late_client: late_client.map(|text| text.parse()).transpose()?,
        faults: faults.resolve()?,
        on_nan: text(&args.on_nan, &file.on_nan, "skip").parse()?,
        goal: args.goal.or(file.goal),
        eval_every: tests
            .eval_every
            .or(file.eval_every)
            .unwrap_or(default.eval_every),
        public_share: args.public_share.or(file.public_share),
        validation: tests.validation.or(file.validation),
        keep: text(&tests.keep, &file.keep, "last").parse()?,
        track_clients: tests.track_clients || file.track_clients.unwrap_or(false),
        ensemble: tests.ensemble || file.ensemble.unwrap_or(false),
        adversary: tests.adversary || file.adversary.unwrap_or(false),
        beam: tests.beam.or(file.beam).unwrap_or(default.beam),
        threads: engine.threads.or(file.threads).unwrap_or(default.threads),
        devices: Devices::choose(text(&engine.device, &file.device, "cpu"))?,
        precision: text(&engine.precision, &file.precision, "f32").parse()?,
        convolutions: in_user_folder(
            text(&engine.convolutions, &file.convolutions, "auto").parse()?,
        ),
        exact_conv: engine.exact_conv || file.exact_conv.unwrap_or(false),
        cohort_batch: text(&engine.cohort_batch, &file.cohort_batch, "auto").parse()?,
        client_memory: Some(
            text(&engine.client_memory, &file.client_memory, CLIENT_MEMORY).parse()?,
        ),
        device_data: text(&engine.device_data, &file.device_data, "auto").parse()?,
        graph_capture: text(&engine.graphs, &file.graphs, "auto").parse()?,
        ..default
    })
}
