//! The states of many clients in one file: an embedded database of versioned values.
//!
//! A state belongs to a client and has a name. Each value that it gets is stored under the round in
//! which it was set, its version. [`get`](ClientStore::get) gives the newest one.
//!
//! The store is part of a checkpoint without being copied:
//!
//! 1. Between checkpoints, [`write`](ClientStore::write) adds versions without waiting for the disk.
//!    A process that dies loses them: the file is then as the last checkpoint left it.
//! 2. [`checkpoint`](ClientStore::checkpoint) waits for the disk, and gives a [`StoreMark`], which
//!    belongs into the checkpoint's own file. Call it before that file gets its final name. It
//!    removes the versions that neither of the last [`KEPT_CHECKPOINTS`] needs, so that a state has
//!    at most one version more than there are kept checkpoints.
//! 3. To resume, [`open`](ClientStore::open) the file and [`rollback`](ClientStore::rollback) to the
//!    mark of the checkpoint: versions of later rounds are dropped. It is an error if the file has no
//!    such checkpoint or has it with other states, as the file of another run would.
//!
//! A file that was changed behind the database's back is an error: [`open`](ClientStore::open) checks
//! the whole file, and each value is checked against its checksum when it is read. Panics of the
//! database become errors too.

mod codec;
mod database;
mod error;
mod scratch;
mod states;
mod versions;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::TensorBytes;
use database::Handle;

pub use error::ClientStoreError;

/// How many checkpoints a store can be rolled back to: the last ones.
pub const KEPT_CHECKPOINTS: usize = 2;

/// The first bytes of each file of the database.
const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// Bytes of the database's own cache, beside what its user keeps in memory.
const CACHE_BYTES: usize = 32 << 20;

/// A state of a client in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientState {
    /// The state's name.
    pub name: String,
    /// The client.
    pub client: usize,
    /// The round that set it.
    pub round: usize,
    /// Its tensors.
    pub tensors: Vec<TensorBytes>,
}

/// What a checkpoint says of the store: the round, and a digest of all that was written until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct StoreMark {
    /// The round.
    pub round: usize,
    /// SHA-256 over the names, clients, versions and checksums of all values, in the order in which
    /// they were written.
    pub history: [u8; 32],
}

/// Clients' states in a file. Any number of threads may read while one writes.
pub struct ClientStore {
    handle: Handle,
}

impl ClientStore {
    /// Makes a new store in a file.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be made.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, ClientStoreError> {
        Handle::create(path.as_ref()).map(|handle| Self { handle })
    }

    /// Opens a store to read and write it, and checks the whole file, which takes about a second for
    /// each GB.
    ///
    /// # Errors
    ///
    /// There is no such file, another process has it open, it is damaged, or it is no store of this
    /// version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ClientStoreError> {
        Handle::open(path.as_ref()).map(|handle| Self { handle })
    }

    /// Opens a store to read a few values of it. The file is not checked as a whole.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); also if the process that wrote it last was stopped before it closed
    /// the store: open it for writing once, as resuming the run does.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, ClientStoreError> {
        Handle::open_read_only(path.as_ref()).map(|handle| Self { handle })
    }

    /// A store for this process alone, in a file of the system's folder for temporary files. The file
    /// is gone when the store is dropped, and when the process ends in any way.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn temporary() -> Result<Self, ClientStoreError> {
        Handle::temporary().map(|handle| Self { handle })
    }

    /// Whether a file could be a store, whole or damaged: there is none, it is empty or begins with zeros, as one
    /// whose creation was stopped does, or it begins as the database's files do.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn may_be_at(path: impl AsRef<Path>) -> std::io::Result<bool> {
        let mut start = vec![];
        match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
            opened => opened?.take(MAGIC.len() as u64).read_to_end(&mut start)?,
        };
        Ok(start == MAGIC || start.iter().all(|byte| *byte == 0))
    }

    /// The store's file, which has a name only in messages if it is [temporary](Self::temporary).
    pub fn path(&self) -> &Path {
        self.handle.path()
    }
}

/// The name under which messages speak of a file that has none.
fn unnamed() -> PathBuf {
    std::env::temp_dir().join("(temporary file of clients' states)")
}
