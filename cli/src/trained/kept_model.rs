//! The models in the folder of a run: whether they are there, and as the run left them.

use std::fs;
use std::path::Path;

use fedround::experiment::Status;
use fedround_models::{Weights, WeightsError};
use serde::Deserialize;

use super::kept_model_error::KeptModelError;
use crate::error::CliError;
use crate::run::{Manifest, ManifestError, SUMMARY};

/// How a run ended, as its summary tells.
#[derive(Deserialize)]
struct Ended {
    status: Status,
    error: Option<String>,
}

/// Fails unless a run left a model in the file, and the file is as the run left it. Without a manifest, it is only
/// known whether it is there.
pub(crate) fn check(dir: &Path, manifest: Option<&Manifest>, file: &str) -> Result<(), CliError> {
    let Some(manifest) = manifest else {
        return match dir.join(file).exists() {
            true => Ok(()),
            false => Err(KeptModelError::Unfinished {
                dir: dir.to_owned(),
                file: file.to_owned(),
            }
            .into()),
        };
    };
    match manifest.check(dir, file) {
        Err(unlisted @ ManifestError::Unlisted { .. }) => Err(match never_written(dir, file) {
            Some(why) => why.into(),
            None => unlisted.into(),
        }),
        checked => Ok(checked?),
    }
}

/// Why a run that has ended wrote no model, if its summary tells. To write its files again would write none.
fn never_written(dir: &Path, file: &str) -> Option<KeptModelError> {
    let text = fs::read_to_string(dir.join(SUMMARY)).ok()?;
    let ended: Ended = serde_json::from_str(&text).ok()?;
    let (dir, file) = (dir.to_owned(), file.to_owned());
    match ended.status {
        Status::Failed => Some(KeptModelError::Failed {
            dir,
            file,
            error: ended.error?,
        }),
        Status::Interrupted => Some(KeptModelError::Stopped { dir, file }),
        Status::Complete => None,
    }
}

/// Reads a model of the run in `dir`. What helps against a file that is damaged is the run, unlike with a user's own
/// file of weights.
pub(crate) fn read(dir: &Path, path: &Path) -> Result<Weights, CliError> {
    Weights::read(path, &[]).map_err(|error| {
        let message = match &error {
            WeightsError::Empty { .. } => "it is empty".to_owned(),
            WeightsError::Format { source, .. } => format!("it is no safetensors file ({source})"),
            _ => return error.into(),
        };
        KeptModelError::Damaged {
            dir: dir.to_owned(),
            path: path.to_owned(),
            message,
        }
        .into()
    })
}
