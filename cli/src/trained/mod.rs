//! A finished run as a source of models: its configuration, and the weights in its folder. `fedround eval`, `predict` and
//! `export` use them.

pub(crate) mod args;
mod eval;
mod export;
mod export_format;
pub(crate) mod kept_model;
mod kept_model_error;
mod predict;
mod predict_error;

pub(crate) use eval::eval;
pub(crate) use export::export;
pub(crate) use export_format::ExportFormatError;
pub(crate) use kept_model_error::{COORDINATOR_GOES_ON, KeptModelError};
pub(crate) use predict::predict;
pub(crate) use predict_error::PredictError;

use std::fs;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fedround::Auxiliaries;
use fedround::experiment::{Keep, Run};
use fedround_data::{DataLocation, Dataset, InputEncoding, Partition};
use fedround_models::{AuxiliaryTask, Leaf, Task, Train, WeightsError};

use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::several_runs::{SeveralRuns, Wanted};
use crate::run::{
    CLIENTS, CONFIG, INPUTS, MODEL, Manifest, SUMMARY, SettingArgs, TestArgs, check_like,
    client_file,
};
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::settings::read_args::ReadArgs;

/// The folder of a run.
pub(crate) struct TrainedRun {
    dir: PathBuf,
    manifest: Option<Manifest>,
    pub settings: Settings,
}

/// The client that joined a run late.
#[derive(Clone, Copy)]
pub(crate) struct Late {
    pub client: usize,
    /// Whether the run came to its first round.
    pub has_joined: bool,
}

impl TrainedRun {
    /// Reads the run's settings, with another folder of datasets if there is one.
    pub fn open(dir: &Path, data_dir: Option<PathBuf>) -> Result<Self, CliError> {
        if let Some(found) = SeveralRuns::below(dir, Wanted::Model) {
            return Err(CliError::SeveralRuns(Box::new(found)));
        }
        let manifest = match dir.join(CONFIG).exists() {
            true => Manifest::of_trained(dir)?,
            // That it is missing says more than a manifest.
            false => None,
        };
        if let Some(manifest) = &manifest {
            manifest.check(dir, CONFIG)?;
        }
        let mut settings = settings_of_run(dir, data_dir)?;
        // Files have whole models, and no phase ends.
        settings.run.train = Train::All;
        settings.run.goal = None;
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
            settings,
        })
    }

    /// Whether clients have models of their own.
    pub fn has_clients(&self) -> bool {
        let listed = self.manifest.as_ref().is_some_and(Manifest::lists_clients);
        listed || self.dir.join(CLIENTS).is_dir()
    }

    /// The run's late client, if it has one.
    pub fn late_client(&self) -> Result<Option<Late>, CliError> {
        let Some(late) = self.settings.run.late_client else {
            return Ok(None);
        };
        let path = self.dir.join(SUMMARY);
        let text = fs::read_to_string(&path).map_err(CliError::io("read", &path))?;
        let summary: serde_json::Value = serde_json::from_str(&text)?;
        let rounds = summary["rounds"].as_u64().unwrap_or_default();
        Ok(Some(Late {
            client: self.settings.run.clients.saturating_sub(1),
            has_joined: rounds > late.after as u64,
        }))
    }

    /// How the run's examples became inputs, as its folder says. Folders of earlier versions do not; then the
    /// data is read.
    pub fn encoding(&self) -> Result<InputEncoding, CliError> {
        match self.kept_encoding()? {
            Some(encoding) => Ok(encoding),
            None => Ok(InputEncoding::of(&*self.settings.load()?)),
        }
    }

    /// The same, if the folder says it.
    pub fn kept_encoding(&self) -> Result<Option<InputEncoding>, CliError> {
        if !self.has(INPUTS) {
            return Ok(None);
        }
        if let Some(manifest) = &self.manifest {
            manifest.check(&self.dir, INPUTS)?;
        }
        let path = self.dir.join(INPUTS);
        let text = fs::read_to_string(&path).map_err(CliError::io("read", &path))?;
        let found = serde_json::from_str(&text);
        let found = found.map_err(|error| CliError::io("read", &path)(error.into()))?;
        Ok(Some(found))
    }

    /// Fails if data that was read now has other examples than the run's, or became inputs in another way: its files
    /// have changed.
    pub fn check_data(&self, data: &Dataset) -> Result<(), CliError> {
        match self.kept_encoding()? {
            None => Ok(()),
            Some(kept) => check_like(&kept, &self.dir, self.settings.data.name(), data),
        }
    }

    /// Takes other data for tests, whose examples become inputs as the run's did. All of them are tests if the files
    /// have no test part, as a table by itself. The run's own data is read and divided as for the run, whose training
    /// examples are no tests: options that ask for anything else are an error.
    pub fn test_on(&mut self, place: DataLocation, flags: &ReadArgs) -> Result<Dataset, CliError> {
        let data = match self.own_data(&place)? {
            Some(own) => match flags.first_differing_flag(&self.settings.reading) {
                Some(flag) => return Err(CliError::OwnDataOption { flag }),
                None => own,
            },
            None => self.other_data(&place, flags)?,
        };
        let settings = &mut self.settings;
        settings.data = place;
        // Only the test set of other data is used, and it may have fewer training examples than the run has
        // clients. None of them are validation examples, by which a model could be chosen.
        settings.run.partition = Partition::Shared { per_client: 1 };
        settings.run.validation = None;
        settings.run.keep = Keep::Last;
        Ok(data)
    }

    /// The run's own data, if it is at this place: where the run read it, however that is written, or wherever the
    /// same examples are now.
    fn own_data(&self, place: &DataLocation) -> Result<Option<Dataset>, CliError> {
        let Settings {
            data,
            reading,
            data_dir,
            ..
        } = &self.settings;
        let dir = data_dir.as_deref();
        if resolved(place.clone()) == resolved(data.clone()) {
            let own = reading.read(data, dir)?;
            self.check_data(&own)?;
            return Ok(Some(own));
        }
        let says_which = self
            .kept_encoding()?
            .is_some_and(|kept| kept.data.is_some());
        if !says_which || !place.is_own_like(data) {
            return Ok(None);
        }
        // What cannot be read as the run's data was, such as a table without its target, is not that data.
        let read = reading.read(place, dir).ok();
        Ok(read.filter(|read| self.check_data(read).is_ok()))
    }

    /// Other data, whose examples become inputs as the run's did.
    fn other_data(&self, place: &DataLocation, flags: &ReadArgs) -> Result<Dataset, CliError> {
        let settings = &self.settings;
        // The columns of a table, say, are none of a folder of images.
        let file = match discriminant(place) == discriminant(&settings.data) {
            true => settings.reading.clone(),
            false => ReadArgs::default(),
        };
        let reading = ReadArgs {
            like: Some(Arc::new(self.encoding()?)),
            // Other files may have a test part, and need not have columns that the model does not read.
            test_share: flags.test_share,
            client_column: flags.client_column.clone(),
            ignore_column: flags.ignore_column.clone(),
            ..flags.over(file)
        };
        Ok(reading.read_tests(place, settings.data_dir.as_deref())?)
    }

    /// The tensors of the run's network, untrained, and its auxiliary networks.
    pub fn network(&self, catalog: &Catalog) -> Result<(Vec<Leaf>, Auxiliaries), CliError> {
        let run = &self.settings.run;
        let encoding = self.encoding()?;
        let (input, classes) = (encoding.input_shape()?, encoding.classes.len());
        let around = AuxiliaryTask {
            task: Task {
                input: run.augment.output_shape(input)?,
                classes,
            },
            clients: run.clients,
            variants: run.auxiliaries.clone(),
        };
        let algorithm = catalog.algorithm(&self.settings.spec, &self.settings.hypers)?;
        let model = catalog.model_of(&self.settings.model)?;
        let (model, used) = model.trace(&algorithm, &around, encoding.words, &catalog.losses)?;
        Ok((model.model().leaves(), used))
    }

    /// Gives a run of the same network the trained model: the server's, or a client's.
    pub fn set_model(&self, run: &mut Run, client: Option<usize>) -> Result<(), CliError> {
        let leaves = run.program().model().model().leaves();
        let values = self.values(&leaves, client)?;
        // They fit: files with other shapes are errors.
        let _ = run.set_parameters(values);
        Ok(())
    }

    /// The trained values of these leaves, in their order: the server's, or those of a client's model.
    pub fn values(
        &self,
        leaves: &[Leaf],
        client: Option<usize>,
    ) -> Result<Vec<Vec<f32>>, CliError> {
        let mut values = vec![None; leaves.len()];
        for file in self.files(client)? {
            let weights = kept_model::read(&self.dir, &file)?;
            let fitted = match weights.fit(leaves) {
                // A client may have none of the tensors that are asked for to itself.
                Err(WeightsError::Nothing { .. }) => continue,
                fitted => fitted?,
            };
            let pairs = values.iter_mut().zip(fitted.values);
            pairs.for_each(|(value, found)| *value = value.take().or(found));
        }
        let absent = leaves.iter().zip(&values).filter(|(_, v)| v.is_none());
        let absent: Vec<&str> = absent.map(|(leaf, _)| leaf.name.as_str()).collect();
        match absent.is_empty() {
            true => Ok(values.into_iter().flatten().collect()),
            false => Err(CliError::Untrained {
                dir: self.dir.clone(),
                tensors: absent.join(", "),
                clients: self.has_clients(),
            }),
        }
    }

    /// The files of a model, those that count first.
    fn files(&self, client: Option<usize>) -> Result<Vec<PathBuf>, CliError> {
        let clients = self.settings.run.clients;
        if let Some(client) = client.filter(|client| *client >= clients) {
            return Err(CliError::NoClient { client, clients });
        }
        let own = client.map(client_file).filter(|file| self.has(file));
        // A run of which nothing is kept is one whose folder is not whole.
        let needed = !self.has_clients();
        let server = Some(MODEL.to_owned()).filter(|file| needed || self.has(file));
        let mut files = vec![];
        for file in own.into_iter().chain(server) {
            kept_model::check(&self.dir, self.manifest.as_ref(), &file)?;
            files.push(self.dir.join(file));
        }
        Ok(files)
    }

    /// Whether there is a file, or should be.
    fn has(&self, file: &str) -> bool {
        let listed = self.manifest.as_ref().is_some_and(|all| all.lists(file));
        listed || self.dir.join(file).exists()
    }
}

/// The settings of a run, with another folder of datasets if there is one. They are for the CPU, whatever device the run
/// trained on, and without what the run started from, which no longer matters.
pub(crate) fn settings_of_run(dir: &Path, data_dir: Option<PathBuf>) -> Result<Settings, CliError> {
    let config = Config {
        device: None,
        weights: None,
        rename: vec![],
        server_state: None,
        ..Config::read(&dir.join(CONFIG))?
    };
    let flags = SettingArgs {
        data_dir,
        ..SettingArgs::default()
    };
    Settings::over(config, &flags, &TestArgs::default(), None, None)
}

/// A location with the paths that the system knows its files by, so that two spellings of one are equal: without
/// links and `..`. Paths of which nothing is there stay as they are.
fn resolved(place: DataLocation) -> DataLocation {
    let real = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
    place.absolute().map_paths(real)
}
