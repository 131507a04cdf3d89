//! A run's settings: defaults, then the config file, then the flags.

use std::path::{Path, PathBuf};

use fedround_data::Partition;
use fedround_data::augment::Augment;
use fedround_dsl::Hyper;
use fedround_exec::{CohortBatch, ConvPolicy, Devices, GraphCapture, LateClient, Precision};

use super::auxiliaries::{self, Auxiliaries};
use super::config::Config;
use super::error::CliError;
use super::hypers::{self, Setting};
use super::run::{SettingArgs, TestArgs};

/// Default dataset.
pub(super) const DATA: &str = "synth-digits";
/// Default model.
pub(super) const MODEL: &str = "2nn";
/// Default number of clients.
pub(super) const CLIENTS: usize = 100;
const PARTITION: &str = "shards:2";
const ROUNDS: usize = 200;
const SEED: u64 = 1;
const EVAL_EVERY: usize = 5;

/// Everything a run depends on.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub spec: String,
    pub hypers: Vec<Setting>,
    pub data: String,
    pub data_dir: Option<PathBuf>,
    pub clients: usize,
    pub partition: Partition,
    pub model: String,
    /// Variants of auxiliary networks.
    pub aux: Auxiliaries,
    pub rounds: usize,
    pub seed: u64,
    pub eval_every: usize,
    /// Whether the clients' own models are tested together, too.
    pub ensemble: bool,
    /// Whether adversaries look for protected attributes at the end.
    pub adversary: bool,
    /// Width of the search for captions.
    pub beam: usize,
    /// Test accuracy that is to be reached.
    pub target: Option<f64>,
    pub threads: usize,
    /// Where clients train.
    pub devices: Devices,
    pub precision: Precision,
    /// Form of convolutions of clients in one graph.
    pub convolutions: ConvPolicy,
    pub cohort_batch: CohortBatch,
    /// Whether recorded steps are replayed.
    pub graphs: GraphCapture,
    /// Changes of training images.
    pub augment: Augment,
    /// The last client, where it joins late.
    pub newcomer: Option<LateClient>,
    /// Test accuracy at which the first phase ends.
    pub goal: Option<f64>,
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
        let mut aux = file.aux;
        aux.extend(auxiliaries::choices(&args.aux)?);
        let newcomer = args.newcomer.clone().or(file.newcomer);
        let rounds = count("rounds", args.rounds.or(file.rounds), ROUNDS)?;
        let partition = text(&args.partition, file.partition, PARTITION);
        Ok(Self {
            spec: spec
                .or(file.spec.as_deref())
                .ok_or(CliError::NoSpec)?
                .trim()
                .to_owned(),
            hypers,
            data: text(&args.data, file.data, DATA),
            data_dir: args.data_dir.clone().or(file.data_dir),
            clients: args.clients.or(file.clients).unwrap_or(CLIENTS),
            partition: partition.parse()?,
            model: text(&args.model, file.model, MODEL),
            aux,
            rounds,
            seed: seed.or(file.seed).unwrap_or(SEED),
            ensemble: tests.ensemble || file.ensemble.unwrap_or(false),
            adversary: tests.adversary || file.adversary.unwrap_or(false),
            eval_every: count(
                "eval-every",
                tests.eval_every.or(file.eval_every),
                EVAL_EVERY,
            )?,
            beam: count("beam", tests.beam.or(file.beam), 1)?,
            target: accuracy("target", tests.target.or(file.target))?,
            threads: count("threads", args.engine.threads.or(file.threads), cores())?,
            devices: Devices::choose(&text(&args.engine.device, file.device, "cpu"))?,
            precision: text(&args.engine.precision, file.precision, "f32").parse()?,
            convolutions: text(&args.engine.convolutions, file.convolutions, "auto").parse()?,
            cohort_batch: text(&args.engine.cohort_batch, file.cohort_batch, "auto").parse()?,
            graphs: text(&args.engine.graphs, file.graphs, "off").parse()?,
            augment: text(&args.augment, file.augment, "none").parse()?,
            newcomer: joining(newcomer, rounds)?,
            goal: accuracy("goal", args.goal.or(file.goal))?,
        })
    }

    /// The same as a file, with every hyper-parameter's value.
    pub fn config(&self, algorithm: &dyn Hyper) -> Config {
        let named = hypers::named(algorithm).into_iter();
        Config {
            spec: Some(self.spec.clone()),
            data: Some(self.data.clone()),
            data_dir: self.data_dir.as_deref().map(absolute),
            clients: Some(self.clients),
            partition: Some(self.partition.to_string()),
            model: Some(self.model.clone()),
            aux: self.aux.clone(),
            rounds: Some(self.rounds),
            seed: Some(self.seed),
            eval_every: Some(self.eval_every),
            ensemble: self.ensemble.then_some(true),
            adversary: self.adversary.then_some(true),
            beam: (self.beam > 1).then_some(self.beam),
            target: self.target,
            threads: Some(self.threads),
            device: Some(self.devices.to_string()),
            precision: (self.precision != Precision::F32).then(|| self.precision.to_string()),
            convolutions: self
                .convolutions
                .always()
                .map(|form| form.name().to_owned()),
            cohort_batch: Some(self.cohort_batch.to_string()),
            graphs: (self.graphs != GraphCapture::Off).then(|| self.graphs.to_string()),
            augment: Some(self.augment.to_string()),
            newcomer: self.newcomer.map(|newcomer| newcomer.to_string()),
            goal: self.goal,
            hyper: named
                .map(|(name, value)| (name, hypers::to_toml(&value)))
                .collect(),
        }
    }
}

fn count(name: &'static str, given: Option<usize>, default: usize) -> Result<usize, CliError> {
    match given.unwrap_or(default) {
        0 => Err(CliError::TooSmall { name, found: 0 }),
        n => Ok(n),
    }
}

/// Who joins late, in time for a round.
fn joining(text: Option<String>, rounds: usize) -> Result<Option<LateClient>, CliError> {
    let newcomer: Option<LateClient> = text.map(|text| text.parse()).transpose()?;
    match newcomer {
        Some(LateClient { after, .. }) if after >= rounds => Err(CliError::Late { after, rounds }),
        newcomer => Ok(newcomer),
    }
}

/// A test accuracy that is to be reached.
fn accuracy(name: &'static str, given: Option<f64>) -> Result<Option<f64>, CliError> {
    match given {
        Some(found) if !(found > 0.0 && found <= 1.0) => Err(CliError::Accuracy { name, found }),
        accuracy => Ok(accuracy),
    }
}

/// One worker for each core that the process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A run's file must work from any folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
