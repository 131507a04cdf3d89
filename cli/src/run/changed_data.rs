//! Runs that cannot go on because their data has changed.

use std::fs;
use std::path::Path;

use fedround::experiment::ExperimentError;
use fedround_data::{DataDigest, Dataset, InputEncoding};
use fedround_simulation::CheckpointError;

use super::folder::INPUTS;
use crate::error::CliError;

/// Fails if the data of a run in `dir`, which is called `name`, is not what it was until the run's last checkpoint, as
/// far as its folder says. The checkpoint itself knows the scaled examples alone, and these may be the same where a
/// column has another mean.
pub(crate) fn check_unchanged(dir: &Path, name: String, data: &Dataset) -> Result<(), CliError> {
    let kept = fs::read(dir.join(INPUTS)).ok();
    let kept: Option<InputEncoding> = kept.and_then(|text| serde_json::from_slice(&text).ok());
    match kept {
        None => Ok(()),
        Some(kept) => check_like(&kept, dir, name, data),
    }
}

/// Fails if the data of a run in `dir`, which is called `name`, becomes inputs in another way than `kept` says, or has
/// other examples. Folders of earlier versions do not say which examples they were.
pub(crate) fn check_like(
    kept: &InputEncoding,
    dir: &Path,
    name: String,
    data: &Dataset,
) -> Result<(), CliError> {
    // As the folder would say it: decimal numbers lose a last digit as text.
    let now = serde_json::to_string(&InputEncoding::of(data))?;
    let encoded = kept.difference(&serde_json::from_str(&now)?);
    let examples = || {
        let kept = kept.data.as_ref()?;
        kept.difference(&DataDigest::of(data)).map(str::to_owned)
    };
    match encoded.or_else(examples) {
        None => Ok(()),
        Some(difference) => Err(CliError::ChangedData {
            dir: dir.to_owned(),
            data: name,
            difference,
        }),
    }
}

/// The error of a run in `dir` that cannot go on from its checkpoint. If that is because its data, which is called
/// `name`, has other examples, it is the error of changed data.
pub(super) fn explained(error: CliError, dir: &Path, name: String) -> CliError {
    let CliError::Experiment { source, .. } = &error else {
        return error;
    };
    let what = match &**source {
        ExperimentError::Checkpoint(CheckpointError::Other { what, .. }) => what.as_str(),
        _ => "",
    };
    let difference = match what {
        "data" => "it has other examples",
        "set of test examples" => "it has other test examples",
        _ => return error,
    };
    CliError::ChangedData {
        dir: dir.to_owned(),
        data: name,
        difference: difference.to_owned(),
    }
}
