//! The examples that each client trains on: the dataset's, as a partition and its transformations give
//! them.

use fedround_data::Examples;
use fedround_data::partition::Split;

use super::ExperimentError;

/// The examples, those of each client as its split turns them.
pub(super) fn turned(train: &Examples, splits: &[Split]) -> Result<Examples, ExperimentError> {
    let mut examples = train.clone();
    for split in splits {
        if let Some(rotation) = split.rotation {
            let own = [&split.train[..], &split.validation].concat();
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
