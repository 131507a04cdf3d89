//! A run's settings as the file that repeats it.

use std::path::{Path, PathBuf};

use fedround::experiment::Keep;
use fedround::privacy::DELTA;
use fedround_data::{DataLocation, DatasetInfo};
use fedround_dsl::Hyper;
use fedround_exec::{Device, GraphCapture, Precision};
use fedround_models::Train;
use fedround_simulation::{DeviceData, OnNan};

use super::Settings;
use super::config::Config;
use super::hypers;
use super::read_args;
use super::weights;
use crate::run::CheckpointEvery;

impl Settings {
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
            delta: (run.delta != DELTA).then_some(run.delta),
            eval_every: Some(run.eval_every),
            public_share: run.public_share,
            validation: run.validation,
            keep: (run.keep != Keep::default()).then(|| run.keep.to_string()),
            track: self.track.clone(),
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
