//! Options of reading a user's own data.

use std::path::Path;
use std::sync::Arc;

use super::bad_examples::{Broken, Missing};
use super::hold_out::hold_out;
use super::parts::Parts;
use super::{DataLocation, Normalize, NumberScale, OwnDataError};
use crate::{DataError, Dataset, InputEncoding, InputValues, Scale};

/// How own data is read. The default reads most files as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The column of a table that holds the class. A table needs one.
    pub target: Option<String>,
    /// The column of a table that names the client whom a row belongs to. It is no input of the model.
    pub client_column: Option<String>,
    /// Columns of a table that are no inputs, such as numbers of rows.
    pub ignore: Vec<String>,
    /// What becomes of rows of a table in which a value is missing.
    pub missing: Missing,
    /// How inputs are scaled.
    pub normalize: Normalize,
    /// Height and width that images are brought to, at most 4096. By default those of the images, if they agree and
    /// are small; else 64.
    pub resize: Option<usize>,
    /// Share of the examples, in (0, 1), that is held out for testing where the files have no test part.
    /// The default is 0.2.
    pub test_share: Option<f64>,
    /// Whether all examples are for testing, where the files have no test part. They are the training examples as
    /// well, for nobody trains on them.
    pub all_tests: bool,
    /// What becomes of images that cannot be decoded.
    pub broken: Broken,
    /// How other examples became inputs, on which a model was trained. These examples become inputs in the same
    /// way: with that scale, those columns of a table and that size of images, and with those classes. Bundled
    /// datasets keep their own scale.
    pub like: Option<Arc<InputEncoding>>,
}

impl ReadOptions {
    const TEST_SHARE: f64 = 0.2;
    /// The largest height and width that images are brought to. A hundred of them are in memory at once, to measure
    /// their scale.
    const LARGEST: usize = 4096;

    /// Divides examples, of which `is_test` has those for testing where the files say so. `groups` has the client of
    /// each example, if there are clients.
    pub(super) fn parts(
        &self,
        is_test: Option<Vec<bool>>,
        (labels, groups): (&[u16], Option<&[u32]>),
        seed: u64,
    ) -> Parts {
        let all = 0..labels.len();
        if is_test.is_none() && self.all_tests {
            return Parts {
                train: all.clone().collect(),
                test: all.collect(),
                divided: false,
            };
        }
        let share = self.test_share.unwrap_or(Self::TEST_SHARE);
        let is_test = is_test.unwrap_or_else(|| hold_out(labels, groups, share, seed));
        let (train, test) = all.partition(|&i| !is_test[i]);
        Parts {
            train,
            test,
            divided: true,
        }
    }

    /// The scale of bytes; `measure` finds the mean and the standard deviation of each channel.
    pub(super) fn byte_scale(
        &self,
        measure: impl FnOnce() -> Result<(Vec<f32>, Vec<f32>), DataError>,
    ) -> Result<Scale, DataError> {
        match self.like.as_deref().and_then(InputEncoding::scale) {
            Some(scale) => Ok(scale),
            None => self.normalize.of_bytes(measure),
        }
    }

    /// The scale of numbers, as [`Normalize::of_numbers`] finds it.
    pub(super) fn number_scale(
        &self,
        train: &[usize],
        size: (usize, bool),
        number: impl Fn(usize) -> f64,
    ) -> Result<NumberScale, DataError> {
        match self.like.as_deref().map(|like| &like.values) {
            Some(InputValues::Numbers(scale)) => Ok(scale.clone()),
            _ => self.normalize.of_numbers(train, size, number),
        }
    }

    /// Data that was read, with the classes of [`like`](Self::like), if its inputs have become the same.
    pub(super) fn as_trained(&self, data: Dataset) -> Result<Dataset, DataError> {
        let Some(like) = self.like.as_deref() else {
            return Ok(data);
        };
        let data = data.with_classes(&like.classes)?;
        let found = InputEncoding::of(&data);
        match found.shape == like.shape && found.values.is_like(&like.values) {
            true => Ok(data),
            false => Err(DataError::OtherInputs {
                data: data.name.clone(),
                expected: like.describe(),
                found: found.describe(),
            }),
        }
    }

    /// Checks that no share of the examples is asked for as the test set of files that have one.
    pub(super) fn check_test_share(&self, path: &Path, has_test: bool) -> Result<(), DataError> {
        match self.test_share.filter(|_| has_test) {
            None => Ok(()),
            Some(_) => Err(OwnDataError::Option {
                option: "test_share",
                data: path.display().to_string(),
                why: "it has a part for testing",
            }
            .into()),
        }
    }

    /// Checks values, and that the data at `place` has the options that are set.
    pub(super) fn check(&self, place: &DataLocation) -> Result<(), DataError> {
        if let Some(share) = self.test_share.filter(|s| !(*s > 0.0 && *s < 1.0)) {
            return Err(OwnDataError::TestShare { share }.into());
        }
        let side = self.resize;
        if let Some(found) = side.filter(|side| !(1..=Self::LARGEST).contains(side)) {
            let limit = Self::LARGEST;
            return Err(OwnDataError::Resize { limit, found }.into());
        }
        let (csv, images, own) = match place {
            DataLocation::Bundled(_) => (false, false, false),
            DataLocation::Images(_) => (false, true, true),
            DataLocation::Csv(_) | DataLocation::Parquet(_) => (true, false, true),
            DataLocation::Arrays(_) | DataLocation::Leaf(_) => (false, false, true),
        };
        let has_test = match place {
            DataLocation::Csv(files) | DataLocation::Parquet(files) => files.len() == 2,
            DataLocation::Arrays(files) => files.len() == 4,
            _ => false,
        };
        let csv_has = "only tables (csv:FILE, parquet:FILE) have it";
        let images_have = "only folders of images (images:DIR) have it";
        let options = [
            ("target", self.target.is_some(), csv, csv_has),
            ("client_column", self.client_column.is_some(), csv, csv_has),
            ("ignore", !self.ignore.is_empty(), csv, csv_has),
            ("missing", self.missing != Missing::Stop, csv, csv_has),
            ("resize", self.resize.is_some(), images, images_have),
            ("broken", self.broken != Broken::Stop, images, images_have),
            (
                "test_share",
                self.test_share.is_some(),
                own && !has_test,
                match own {
                    true => "the last of these files are the test set",
                    false => "bundled datasets have a test set of their own",
                },
            ),
        ];
        match options.into_iter().find(|(_, set, has, _)| *set && !has) {
            None => Ok(()),
            Some((option, _, _, why)) => Err(OwnDataError::Option {
                option,
                data: place.to_string(),
                why,
            }
            .into()),
        }
    }
}
