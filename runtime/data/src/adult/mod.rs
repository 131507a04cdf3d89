//! UCI Adult: does a person earn more than 50,000 dollars a year?
//!
//! As LG-FedAvg prepares it (Liang et al., 2020, fairness): people whose race is
//! White or Black; every column but race, sex, `fnlwgt` and the label is an
//! input, with 5 numbers as they are and 6 categories one-hot, less their first
//! value; a missing value is a category of its own. That makes 93 inputs,
//! standardised by the training half. Race and sex are kept apart, as the
//! attributes that a fair model's representation must not tell.
//!
//! Departs: the halves are drawn by our own [streams](crate::rng), so that they
//! hold other people than the authors'; they have the same sizes and the same
//! share of each class. The values of a category come from both files' people
//! together, before they are split, as in the authors' code.

mod encode;
mod person;

use std::path::Path;

use crate::{DataError, Dataset, rng};

pub use encode::{Encoding, Table};
pub use person::{CATEGORIES, NUMBERS, Person, people};

/// The two classes.
pub const CLASSES: &[&str] = &["<=50K", ">50K"];

/// The protected attributes, in the order of [`Table::protected`].
pub const PROTECTED: [&str; 2] = ["white", "male"];

/// Who trains and who is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// `adult.data` in two halves with the same share of each class: 15,470
    /// people each. LG-FedAvg's.
    #[default]
    Halves,
    /// `adult.data` and `adult.test`, as UCI publishes them: 30,940 and 15,507 people.
    Published,
}

/// Training and test people from the folder of `adult.data` and, for
/// [`Split::Published`], `adult.test`; each may be gzipped. The halves are a
/// function of `seed`.
///
/// # Errors
/// A missing file, and [`RecordError`](crate::RecordError) for a line that is
/// not a person.
pub fn load(folder: &Path, split: Split, seed: u64) -> Result<Encoding, DataError> {
    let data = people(&folder.join("adult.data"))?;
    let (train, test) = match split {
        Split::Halves => halves(data, seed),
        Split::Published => (data, people(&folder.join("adult.test"))?),
    };
    for (people, name) in [(&train, "adult.data"), (&test, "adult.test")] {
        if people.is_empty() {
            let path = folder.join(name);
            return Err(DataError::Empty { path });
        }
    }
    Ok(Encoding::new(&train, &test))
}

/// [`load`] as a dataset of columns `x`, the inputs, and `protected`, `[2]`.
///
/// # Errors
/// As [`load`].
pub fn dataset(name: &str, folder: &Path, split: Split, seed: u64) -> Result<Dataset, DataError> {
    let Encoding { train, test, .. } = load(folder, split, seed)?;
    let (train, test) = (train.examples()?, test.examples()?);
    Ok(Dataset::new(name, train, test, CLASSES.iter().copied()))
}

/// Half of the people of each class, and the other half; the first half has the
/// extra person where a class is odd.
fn halves(people: Vec<Person>, seed: u64) -> (Vec<Person>, Vec<Person>) {
    let mut left = [false, true].map(|rich| {
        let class = people.iter().filter(|p| p.rich == rich).count();
        class.div_ceil(2)
    });
    let mut in_train = vec![false; people.len()];
    for i in rng::permutation(seed, people.len(), &[rng::SPLIT]) {
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
