//! UCI Adult: does a person earn more than 50,000 dollars a year?
//!
//! The data is prepared as in LG-FedAvg (Liang et al., 2020, section on fairness). Only people whose race is
//! White or Black are kept. Every column except race, sex, `fnlwgt` and the label is an input: 5 numbers,
//! and 6 categories as one-hot vectors without their first value. A missing value is a category of its own.
//! That gives 93 inputs, which are standardised by the training half. Race and sex are the protected
//! attributes, which the representation of a fair model must not reveal.
//!
//! Departs: the halves are drawn by [our own streams](fedround_random), so they hold other people than the
//! authors' halves, with the same sizes and the same share of each class. The values of a category are
//! collected from the people of both files before the split, as in the authors' code.

mod encode;
mod person;

use std::path::Path;

use fedround_random::{Purpose, StreamKey, permutation};

use crate::source::Request;
use crate::{DataError, Dataset, DatasetInfo};

pub use encode::{Encoding, Table};
pub use person::{CATEGORIES, NUMBERS, Person, people};

/// The two classes.
pub const CLASSES: &[&str] = &["<=50K", ">50K"];

/// The protected attributes, in the order of [`Table::protected`].
pub const PROTECTED: [&str; 2] = ["white", "male"];

/// The split into training and test people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// `adult.data` in two halves of 15,470 people each, with the same share of each class, as in
    /// LG-FedAvg.
    #[default]
    Halves,
    /// `adult.data` and `adult.test`, as UCI publishes them: 30,940 and 15,507 people.
    Published,
}

/// Loads training and test people from the folder of `adult.data` and, for [`Split::Published`],
/// `adult.test`. The files may be gzipped. The halves are a function of `seed`.
///
/// # Errors
/// A file is missing, or a line is not a person ([`RecordError`](crate::RecordError)).
pub fn load(folder: &Path, split: Split, seed: u64) -> Result<Encoding, DataError> {
    let data = people(&folder.join("adult.data"))?;
    let (train, test) = match split {
        Split::Halves => halves(data, seed),
        Split::Published => (data, people(&folder.join("adult.test"))?),
    };
    for (people, name) in [(&train, "adult.data"), (&test, "adult.test")] {
        DataError::empty_if(people.is_empty(), &folder.join(name))?;
    }
    Ok(Encoding::new(&train, &test))
}

pub(super) const HALVES: DatasetInfo = DatasetInfo {
    name: "adult",
    doc: "incomes in the census, with race and sex apart, as LG-FedAvg halves them (Kohavi, 1996)",
    classes: 2,
    class_names: CLASSES,
    shape: &[INPUTS],
    files: &["adult/adult.data"],
    how: "Get adult.data from https://archive.ics.uci.edu/ml/machine-learning-databases/adult/ into DIR/adult",
    columns: &[(PROTECTED_COLUMN, &[PROTECTED.len()])],
    protected: &PROTECTED,
    read: |request| dataset(request, Split::Halves),
    ..DatasetInfo::BASE
};

pub(super) const PUBLISHED: DatasetInfo = DatasetInfo {
    name: "adult-published",
    doc: "the same with UCI's own test set",
    files: &["adult/adult.data", "adult/adult.test"],
    how: "Get adult.data and adult.test from \
          https://archive.ics.uci.edu/ml/machine-learning-databases/adult/ into DIR/adult",
    read: |request| dataset(request, Split::Published),
    ..HALVES
};

/// The column of the protected attributes.
pub(super) const PROTECTED_COLUMN: &str = "protected";

/// The inputs of the published people.
const INPUTS: usize = 93;

/// The number of people in each published file whose race is White or Black.
const PEOPLE: [usize; 2] = [30_940, 15_507];

/// [`load`] as a dataset of columns `x`, the inputs, and `protected`, `[2]`.
fn dataset(request: &Request<'_>, split: Split) -> Result<Dataset, DataError> {
    match split {
        Split::Halves => request.existing::<1>().map(|_| ())?,
        Split::Published => request.existing::<2>().map(|_| ())?,
    }
    let Encoding { train, test, .. } = load(&request.path("adult")?, split, request.seed)?;
    let found = train.labels.len() + test.labels.len();
    let expected = match split {
        Split::Halves => PEOPLE[0],
        Split::Published => PEOPLE.iter().sum(),
    };
    if found != expected {
        request.notes.add(format!(
            "the files hold {found} people whose race is White or Black, the published ones {expected}"
        ));
    }
    Ok(request.dataset(train.examples()?, test.examples()?))
}

/// Splits the people of each class into halves. The first half has the extra person of an odd class.
fn halves(people: Vec<Person>, seed: u64) -> (Vec<Person>, Vec<Person>) {
    let mut left = [false, true].map(|rich| {
        let class = people.iter().filter(|p| p.rich == rich).count();
        class.div_ceil(2)
    });
    let mut in_train = vec![false; people.len()];
    for i in permutation(people.len(), StreamKey::new(seed, Purpose::Split)) {
        let left = &mut left[usize::from(people[i].rich)];
        in_train[i] = *left > 0;
        *left = left.saturating_sub(1);
    }
    let mut chosen = in_train.into_iter();
    people
        .into_iter()
        .partition(|_| chosen.next().unwrap_or(false))
}

#[cfg(test)]
mod tests;
