//! The examples that each client trains on: the dataset's, as a partition and its transformations give
//! them.

use fedround_data::Examples;
use fedround_data::partition::{Rotation, Split};

use super::{ExperimentError, InputError};

/// The examples, those of each client as its split turns them.
///
/// # Errors
///
/// Two clients share an example, and their splits turn it differently; or what a split turns is no square image.
pub(super) fn turned(train: &Examples, splits: &[Split]) -> Result<Examples, ExperimentError> {
    if splits.iter().all(|split| split.rotation.is_none()) {
        return Ok(train.clone());
    }
    // The first client of each example.
    let mut owners: Vec<Option<usize>> = vec![None; train.len()];
    for (second, split) in splits.iter().enumerate() {
        for &example in split.train.iter().chain(&split.validation) {
            let first = *owners[example].get_or_insert(second);
            if splits[first].rotation != split.rotation {
                let shared = InputError::Rotations {
                    example,
                    first,
                    second,
                };
                return Err(shared.into());
            }
        }
    }
    let mut examples = train.clone();
    for rotation in Rotation::ALL {
        let turns =
            |owner: &Option<usize>| owner.and_then(|k| splits[k].rotation) == Some(rotation);
        let own = owners.iter().enumerate();
        let own = own.filter_map(|(example, owner)| turns(owner).then_some(example));
        let own: Vec<usize> = own.collect();
        if !own.is_empty() {
            examples = rotation.turned(&examples, &own)?;
        }
    }
    Ok(examples)
}

/// The clients' examples. Moved, not copied: of many clients, these indices are most of what a run holds.
pub(super) fn dealt(splits: Vec<Split>, centralized: bool) -> Vec<Vec<usize>> {
    let own = splits.into_iter().map(|split| split.train);
    match centralized {
        true => vec![own.flatten().collect()],
        false => own.collect(),
    }
}

#[cfg(test)]
mod tests {
    use fedround_data::Scale;

    use super::*;

    fn split(train: &[usize], degrees: u32) -> Split {
        Split {
            train: train.to_vec(),
            rotation: Rotation::degrees(degrees),
            ..Split::default()
        }
    }

    #[test]
    fn each_example_turns_once_and_only_for_those_who_turn_it() {
        let bytes = [1, 2, 3, 4].repeat(3);
        let images = Examples::new([1, 2, 2], bytes, [0; 3], Scale::Unit).unwrap();
        // An index that is named twice, and an example that two clients turn alike.
        let splits = [split(&[0, 0], 90), split(&[0, 1], 90), split(&[2], 0)];
        let found = turned(&images, &splits).unwrap();
        let [quarter, plain] = [&[2, 4, 1, 3][..], &[1, 2, 3, 4]].map(Some);
        assert_eq!([0, 1, 2].map(|i| found.image(i)), [quarter, quarter, plain]);

        let splits = [split(&[0, 1], 0), split(&[2, 1], 180)];
        let error = turned(&images, &splits).unwrap_err().to_string();
        let expected = "splits: clients 0 and 1 share training example 1 with different rotations";
        assert!(error.starts_with(expected), "{error}");
    }
}
