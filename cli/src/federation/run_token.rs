//! Keeps the token with which a coordinator continues its run at a SuperLink, in a file that only its owner
//! can read.

use std::path::{Path, PathBuf};

use fedround_flower::TaskToken;
use fedround_store::write_secret;

use super::error::FederationError;
use crate::error::CliError;
use crate::files::{json, read_if_there, remove_file};

fn path(state: &Path) -> PathBuf {
    state.join("superlink-run.json")
}

/// The token of the last process, if there is one.
pub(super) fn read(state: &Path) -> Result<Option<TaskToken>, CliError> {
    let path = path(state);
    let Some(text) = read_if_there(&path).map_err(CliError::io("read", &path))? else {
        return Ok(None);
    };
    match serde_json::from_str(&text) {
        Ok(token) => Ok(Some(token)),
        Err(error) => {
            let message = error.to_string();
            Err(FederationError::Token { path, message }.into())
        }
    }
}

/// Writes a token, whole or not at all.
pub(super) fn write(state: &Path, token: &TaskToken) -> Result<(), CliError> {
    Ok(write_secret(&path(state), &[json(token)?.as_bytes()])?)
}

/// Removes the token of a run that ended.
pub(super) fn remove(state: &Path) -> Result<(), CliError> {
    remove_file(&path(state))
}
