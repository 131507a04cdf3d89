//! A run's settings: defaults, then the config file, then the flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::convolution_cache::in_user_folder;
use fedround::experiment::{self, ExperimentError, Keep};
use fedround_data::{DataLocation, Dataset, DatasetInfo, Partition};
use fedround_dsl::Hyper;
use fedround_exec::{Device, Devices, GraphCapture, Precision};
use fedround_models::Train;
use fedround_simulation::{DeviceData, OnNan};

use crate::auxiliaries;
use crate::config::Config;
use crate::error::CliError;
use crate::faults::FaultArgs;
use crate::hypers::{self, Setting};
use crate::privacy_bound::DELTA;
use crate::read_args::{self, ReadArgs};
use crate::run::{CheckpointEvery, SettingArgs, TestArgs};
use crate::weights;

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
    /// `δ` of the privacy that is reported.
    pub delta: f64,
    /// When checkpoints are written.
    pub checkpoint: CheckpointEvery,
    /// Everything else.
    pub run: experiment::Settings,
    /// The dataset, where it had to be read to count its clients.
    pub counted: Option<Counted>,
}

/// A dataset that has been read.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    place: DataLocation,
    data: Arc<Dataset>,
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
        Self::over(file, args, tests, spec, seed)
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
        let text = |flag: &Option<String>, file: Option<String>, default: &str| {
            flag.clone().or(file).unwrap_or_else(|| default.to_owned())
        };
        let mut auxiliaries = file.aux;
        auxiliaries.extend(auxiliaries::choices(&args.aux)?);
        let faults = args.faults.over(file.faults).absolute();
        let late_client = args.newcomer.clone().or(file.newcomer);
        let partition = args.partition.clone().or(file.partition);
        let default = experiment::Settings::default();
        let weights = weights::source(
            args.weights.clone().or(file.weights),
            if args.weights.is_some() {
                &args.rename
            } else {
                &file.rename
            },
        )?;
        // The file's choice is of the file's weights.
        let of_file = file.server_state.unwrap_or(false) && args.weights.is_none();
        let server_state = weights
            .as_ref()
            .filter(|_| args.server_state || of_file)
            .map(weights::server_state);
        let run = experiment::Settings {
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
            train: text(&args.train, file.train, "all").parse()?,
            augment: text(&args.augment, file.augment, "none").parse()?,
            auxiliaries,
            late_client: late_client.map(|text| text.parse()).transpose()?,
            faults: faults.resolve()?,
            on_nan: text(&args.on_nan, file.on_nan, "skip").parse()?,
            goal: args.goal.or(file.goal),
            eval_every: tests
                .eval_every
                .or(file.eval_every)
                .unwrap_or(default.eval_every),
            public_share: args.public_share.or(file.public_share),
            validation: tests.validation.or(file.validation),
            keep: text(&tests.keep, file.keep, "last").parse()?,
            track_clients: tests.track_clients || file.track_clients.unwrap_or(false),
            ensemble: tests.ensemble || file.ensemble.unwrap_or(false),
            adversary: tests.adversary || file.adversary.unwrap_or(false),
            beam: tests.beam.or(file.beam).unwrap_or(default.beam),
            threads: args
                .engine
                .threads
                .or(file.threads)
                .unwrap_or(default.threads),
            devices: Devices::choose(&text(&args.engine.device, file.device, "cpu"))?,
            precision: text(&args.engine.precision, file.precision, "f32").parse()?,
            convolutions: in_user_folder(
                text(&args.engine.convolutions, file.convolutions, "auto").parse()?,
            ),
            exact_conv: args.engine.exact_conv || file.exact_conv.unwrap_or(false),
            cohort_batch: text(&args.engine.cohort_batch, file.cohort_batch, "auto").parse()?,
            client_memory: Some(
                text(
                    &args.engine.client_memory,
                    file.client_memory,
                    CLIENT_MEMORY,
                )
                .parse()?,
            ),
            device_data: text(&args.engine.device_data, file.device_data, "auto").parse()?,
            graph_capture: text(&args.engine.graphs, file.graphs, "auto").parse()?,
            ..default
        };
        let rounds = args.rounds.or(file.rounds).unwrap_or(ROUNDS);
        run.check(rounds)?;
        let target = tests.target.or(file.target);
        if let Some(found) = target.filter(|target| !(*target > 0.0 && *target <= 1.0)) {
            let name = "target";
            return Err(ExperimentError::Accuracy { name, found }.into());
        }
        let delta = args.delta.or(file.delta).unwrap_or(DELTA);
        if !(delta > 0.0 && delta < 1.0) {
            return Err(CliError::Delta { found: delta });
        }
        let checkpoint = text(&args.checkpoint, file.checkpoint, "auto").parse()?;
        let clients_known = args.clients.or(file.clients).is_some();
        let settings = Self {
            spec: spec
                .or(file.spec.as_deref())
                .ok_or(CliError::NoSpec)?
                .trim()
                .to_owned(),
            hypers,
            data: text(&args.data, file.data, DATA)
                .parse::<DataLocation>()?
                .absolute(),
            reading: args.reading.over(file.reading),
            data_dir: args.data_dir.clone().or(file.data_dir),
            model: text(&args.model, file.model, MODEL),
            rounds,
            target,
            faults,
            delta,
            checkpoint,
            run,
            counted: None,
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
        self.counted = Some(Counted {
            place: self.data.clone(),
            data,
        });
        Ok(self)
    }

    /// The dataset.
    pub fn load(&self) -> Result<Arc<Dataset>, CliError> {
        match &self.counted {
            Some(counted) if counted.place == self.data => Ok(counted.data.clone()),
            _ => Ok(Arc::new(
                self.reading.read(&self.data, self.data_dir.as_deref())?,
            )),
        }
    }

    /// The data folder of the file of a run: the chosen one, or the default one if files are read from it.
    fn written_dir(&self) -> Option<PathBuf> {
        let is_read = match &self.data {
            DataLocation::Bundled(name) => {
                DatasetInfo::find(name).is_ok_and(|info| !info.files.is_empty())
            }
            _ => false,
        };
        let default = is_read.then(|| read_args::folder(None));
        self.data_dir.as_deref().or(default).map(absolute)
    }

    /// The same as a file, with every hyper-parameter's value.
    pub fn config(&self, algorithm: &dyn Hyper) -> Config {
        let (run, named) = (&self.run, hypers::named(algorithm).into_iter());
        let gpu = run.devices.all().any(|device| device != Device::Cpu);
        Config {
            spec: Some(self.spec.clone()),
            data: Some(self.data.to_string()),
            data_dir: self.written_dir(),
            reading: self.reading.clone(),
            clients: Some(run.clients),
            partition: Some(run.partition.to_string()),
            model: Some(self.model.clone()),
            aux: run.auxiliaries.clone(),
            weights: run.weights.as_ref().map(|weights| absolute(&weights.file)),
            rename: run.weights.as_ref().map_or(vec![], weights::rules),
            server_state: run.server_state.as_ref().map(|_| true),
            train: (run.train != Train::All).then(|| run.train.to_string()),
            rounds: Some(self.rounds),
            seed: Some(run.seed),
            partition_seed: run.partition_seed,
            reproducible_noise: run.reproducible_noise.then_some(true),
            delta: (self.delta != DELTA).then_some(self.delta),
            eval_every: Some(run.eval_every),
            public_share: run.public_share,
            validation: run.validation,
            keep: (run.keep != Keep::default()).then(|| run.keep.to_string()),
            track_clients: run.track_clients.then_some(true),
            ensemble: run.ensemble.then_some(true),
            adversary: run.adversary.then_some(true),
            beam: (run.beam > 1).then_some(run.beam),
            target: self.target,
            threads: Some(run.threads),
            device: Some(run.devices.to_string()),
            precision: (run.precision != Precision::F32).then(|| run.precision.to_string()),
            convolutions: run.convolutions.always().map(|form| form.name().to_owned()),
            exact_conv: run.exact_conv.then_some(true),
            cohort_batch: Some(run.cohort_batch.to_string()),
            client_memory: run.client_memory.map(|memory| memory.to_string()),
            graphs: (gpu || run.graph_capture != GraphCapture::Auto)
                .then(|| run.graph_capture.to_string()),
            device_data: (run.device_data != DeviceData::Auto).then(|| run.device_data.to_string()),
            checkpoint: match self.checkpoint {
                CheckpointEvery::Auto => None,
                every => Some(every.to_string()),
            },
            augment: Some(run.augment.to_string()),
            newcomer: run.late_client.map(|client| client.to_string()),
            on_nan: (run.on_nan != OnNan::default()).then(|| run.on_nan.to_string()),
            goal: run.goal,
            faults: self.faults.clone(),
            hyper: named
                .map(|(name, value)| (name, hypers::to_toml(&value)))
                .collect(),
        }
    }
}

/// A run's file must work from any folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
