//! A party's clients, whose states outlive the process that trains them.

use std::path::{Path, PathBuf};

use fedround_simulation::CheckpointError;
use fedround_simulation::parties::{PartyHost, Payload};
use fedround_store::{Archive, StoreError};

const FILE: &str = "clients.ckpt";

/// Why the states of a party's clients cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DurableHostError {
    /// The states are those of other clients, another program or another seed.
    #[error("{}: {source}", path.display())]
    States {
        /// The file.
        path: PathBuf,
        /// How they differ.
        source: Box<CheckpointError>,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A [`PartyHost`] with a file. It is written before an answer leaves, so that a process that was killed
/// comes back where it was: no client's state is lost that the coordinator may count on.
pub struct DurableHost {
    host: PartyHost,
    path: PathBuf,
}

impl DurableHost {
    /// The host, as the last process of this folder left it.
    ///
    /// # Errors
    ///
    /// See [`DurableHostError`].
    pub fn open(mut host: PartyHost, folder: &Path) -> Result<Self, DurableHostError> {
        let path = folder.join(FILE);
        if path.exists() {
            let restored = host.restore(&Archive::read(&path)?);
            restored.map_err(|source| states(&path, source))?;
        }
        Ok(Self { host, path })
    }

    /// The clients with their states.
    pub fn host(&self) -> &PartyHost {
        &self.host
    }

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// The file cannot be written; the answer must not be sent then. A request that cannot be carried out
    /// is no error: the answer says so.
    pub fn answer(&mut self, request: &Payload) -> Result<Payload, DurableHostError> {
        let answer = self.host.answer_payload(request);
        if !self.host.keeps_states() {
            return Ok(answer);
        }
        let saved = self.host.save();
        saved
            .map_err(|source| states(&self.path, source))?
            .write(&self.path)?;
        Ok(answer)
    }
}

fn states(path: &Path, source: CheckpointError) -> DurableHostError {
    DurableHostError::States {
        path: path.to_owned(),
        source: Box::new(source),
    }
}
