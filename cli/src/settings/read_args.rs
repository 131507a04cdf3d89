//! The options of reading data: as flags, and as a table of `config.toml`.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use fedround::experiment::DATA_SEED;
use fedround_data::own::Missing;
use fedround_data::{
    DataError, DataLocation, DataSpec, Dataset, DatasetInfo, InputEncoding, ReadOptions,
};
use serde::{Deserialize, Serialize};

use crate::args::headings::DATA;
use crate::files::cache_folder::cache_folder;

/// How data of one's own is read; a flag wins over the file.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArgs {
    /// Column of a table (csv:FILE, parquet:FILE) that holds the class
    #[arg(long, help_heading = DATA, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_column: Option<String>,
    /// Column of a table that names the client of each row; it is no input
    #[arg(long, help_heading = DATA, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_column: Option<String>,
    /// Column of a table that is no input, such as a row's number; may be repeated
    #[arg(long, help_heading = DATA, value_name = "COLUMN")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_column: Vec<String>,
    /// What becomes of rows of a table that lack a value: stop, drop the row, or fill the gap by the mean
    /// or by a category of its own [default: stop]
    #[arg(long, help_heading = DATA, value_name = "stop|drop|fill")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Scale of inputs: auto, by the mean and the standard deviation of the training examples; none; or
    /// MEAN,STD, as in 0.5,0.25 [default: auto]
    #[arg(long, help_heading = DATA, value_name = "auto|none|MEAN,STD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalize: Option<String>,
    /// Height and width of the images of a folder [default: their own if they agree and are small, else 64]
    #[arg(long, help_heading = DATA, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<usize>,
    /// Share of the examples that is for testing, where the files have no test part [default: 0.2]
    #[arg(long, help_heading = DATA, value_name = "SHARE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_share: Option<f64>,
    /// What becomes of images of a folder that cannot be decoded: stop at the first, or skip them
    /// [default: stop]
    #[arg(long, help_heading = DATA, value_name = "stop|skip")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// How the examples of a finished run became inputs, where other data is to become inputs in the same way.
    #[arg(skip)]
    #[serde(skip)]
    pub like: Option<Arc<InputEncoding>>,
}

impl ReadArgs {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These flags over a file's settings.
    pub fn over(&self, file: Self) -> Self {
        let flags = self.clone();
        Self {
            target_column: flags.target_column.or(file.target_column),
            client_column: flags.client_column.or(file.client_column),
            ignore_column: match flags.ignore_column.is_empty() {
                true => file.ignore_column,
                false => flags.ignore_column,
            },
            missing: flags.missing.or(file.missing),
            normalize: flags.normalize.or(file.normalize),
            resize: flags.resize.or(file.resize),
            test_share: flags.test_share.or(file.test_share),
            broken: flags.broken.or(file.broken),
            like: flags.like.or(file.like),
        }
    }

    /// The first of these flags that asks for something else than a file's settings.
    pub fn first_differing_flag(&self, file: &Self) -> Option<String> {
        let (flags, file) = (self.table(), file.table());
        let mut flags = flags.into_iter();
        let (key, _) = flags.find(|(key, value)| file.get(key) != Some(value))?;
        Some(format!("--{}", key.replace('_', "-")))
    }

    /// Whether missing numbers of a table are filled.
    pub fn fills_gaps(&self) -> bool {
        matches!(parse(&self.missing), Ok(Some(Missing::Fill)))
    }

    fn table(&self) -> toml::Table {
        // There is nothing in it that a table cannot hold.
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn resolve(&self) -> Result<ReadOptions, DataError> {
        let default = ReadOptions::default();
        Ok(ReadOptions {
            target: self.target_column.clone(),
            client_column: self.client_column.clone(),
            ignore: self.ignore_column.clone(),
            missing: parse(&self.missing)?.unwrap_or(default.missing),
            normalize: parse(&self.normalize)?.unwrap_or(default.normalize),
            resize: self.resize,
            test_share: self.test_share,
            broken: parse(&self.broken)?.unwrap_or(default.broken),
            like: self.like.clone(),
            ..default
        })
    }

    /// Reads the data at a place, with the files of bundled datasets in `dir`, or else in `data`.
    pub fn read(&self, place: &DataLocation, dir: Option<&Path>) -> Result<Dataset, DataError> {
        read(place, dir, self.resolve()?)
    }

    /// Reads data to test on: all of it, if the files have no test part and no share for tests is asked for.
    pub fn read_tests(
        &self,
        place: &DataLocation,
        dir: Option<&Path>,
    ) -> Result<Dataset, DataError> {
        let reading = ReadOptions {
            all_tests: self.test_share.is_none(),
            ..self.resolve()?
        };
        read(place, dir, reading)
    }
}

fn read(
    place: &DataLocation,
    dir: Option<&Path>,
    reading: ReadOptions,
) -> Result<Dataset, DataError> {
    let spec = DataSpec {
        folder: Some(folder(dir).to_owned()),
        cache: cache_folder().map(|folder| folder.join("images")),
        seed: DATA_SEED,
        ..DataSpec::new(place.clone())
    };
    match place {
        // That no dataset has this name says more than an option that bundled ones do not have: `csv:` may be missing
        // in front of a file.
        DataLocation::Bundled(name) if DatasetInfo::find(name).is_err() => spec.read(),
        _ => spec.reading(reading).read(),
    }
}

/// The folder of bundled datasets: the chosen one, or `data`.
pub(crate) fn folder(chosen: Option<&Path>) -> &Path {
    chosen.unwrap_or(Path::new("data"))
}

fn parse<T: std::str::FromStr>(text: &Option<String>) -> Result<Option<T>, T::Err> {
    text.as_deref().map(str::parse).transpose()
}
