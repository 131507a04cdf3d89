//! Errors of models in the folder of a run.

use std::path::{Path, PathBuf};

use crate::files::names::{CONFIG, FEDERATION};
use crate::terminal::command_line::quoted;

/// What goes on with the run of a federation.
pub(crate) const COORDINATOR_GOES_ON: &str =
    "the `fedround coordinator` command that began the run, given again, goes on with it";

/// Why the folder of a run has no model that can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeptModelError {
    #[error("`{}` has no {file}, because its run failed: {error}", dir.display())]
    Failed {
        dir: PathBuf,
        file: String,
        /// Why it failed.
        error: String,
    },
    #[error("`{}` has no {file}: its run was stopped before a round had trained a model", dir.display())]
    Stopped { dir: PathBuf, file: String },
    #[error("`{}` has no {file}, which a run writes when it ends", dir.display())]
    Unfinished { dir: PathBuf, file: String },
    #[error("{} is damaged: {message}", path.display())]
    Damaged {
        dir: PathBuf,
        path: PathBuf,
        message: String,
    },
}

impl KeptModelError {
    /// What to do about it.
    pub fn help(&self) -> String {
        let word = |path: &Path| quoted(&path.display().to_string());
        let (Self::Failed { dir, .. }
        | Self::Stopped { dir, .. }
        | Self::Unfinished { dir, .. }
        | Self::Damaged { dir, .. }) = self;
        if dir.join(FEDERATION).exists() {
            return match self {
                Self::Failed { .. } => "a `fedround coordinator` command with other settings and another --state begins another run",
                _ => COORDINATOR_GOES_ON,
            }
            .to_owned();
        }
        match self {
            Self::Failed { dir, .. } => {
                let config = word(&dir.join(CONFIG));
                format!(
                    "`fedround resume` would fail in the same way; `fedround run --config {config} --out OTHER` with other settings, such as --set lr=.., begins another run"
                )
            }
            Self::Stopped { dir, .. } => format!("`fedround resume {}` goes on with it", word(dir)),
            Self::Unfinished { dir, .. } => format!(
                "if it is not being trained any more, `fedround resume {}` finishes it and writes its files",
                word(dir)
            ),
            Self::Damaged { dir, .. } => {
                format!("`fedround resume {}` writes it again", word(dir))
            }
        }
    }
}
