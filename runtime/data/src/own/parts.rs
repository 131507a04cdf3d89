//! The parts of own data, for training and for testing.

use std::path::Path;

use super::labels::{check_test, notes};
use crate::{DataError, Dataset, Examples};

/// The parts of own data.
pub(super) struct Parts {
    /// The numbers of the examples for training.
    pub train: Vec<usize>,
    /// Those for testing.
    pub test: Vec<usize>,
    /// Whether no example is in both.
    pub divided: bool,
}

impl Parts {
    /// The examples as a dataset without a name, with notes on its classes if no example is in both parts.
    /// `groups` has the names of the clients and the client of each example, if there are clients. `test_files`
    /// is where the files have the examples for testing, if they do: every class of these must have training
    /// examples.
    pub fn dataset(
        &self,
        examples: &Examples,
        classes: Vec<String>,
        groups: Option<(Vec<String>, Vec<u32>)>,
        test_files: Option<&Path>,
    ) -> Result<Dataset, DataError> {
        let (train, test) = (examples.subset(&self.train), examples.subset(&self.test));
        if let Some(path) = test_files {
            check_test(path, &classes, train.labels(), test.labels())?;
        }
        let about = match self.divided {
            true => notes(&classes, train.labels(), test.labels()),
            false => vec![],
        };
        let mut data = Dataset::new("", train, test, classes);
        if let Some((names, groups)) = groups {
            let of = |part: &[usize]| -> Vec<u32> { part.iter().map(|&i| groups[i]).collect() };
            data = data.with_groups(of(&self.train), of(&self.test), names)?;
        }
        data.notes = about;
        Ok(data)
    }
}
