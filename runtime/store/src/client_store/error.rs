//! Errors of the store of clients' states.

use std::path::PathBuf;

/// The file of clients' states could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientStoreError {
    /// The system or the database refused.
    #[error("cannot {action} the clients' states in {}: {source}", path.display())]
    Database {
        /// What was tried, as in "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<redb::Error>,
    },
    /// The disk is full, or a quota is used up.
    #[error(
        "no space left for the clients' states in {}{}; the file is as its last checkpoint left it",
        path.display(),
        free.map_or(String::new(), |free| format!(", {free} bytes are free"))
    )]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// The bytes that are free on its disk, where the system says so.
        free: Option<u64>,
    },
    /// A new store's file is already there.
    #[error("{} exists, and a new file for clients' states was to be made; name another, or remove it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file does not hold what was written to it.
    #[error(
        "{} is damaged: {what}; go back to a copy of it, or begin anew without it", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was expected and found.
        what: String,
    },
    /// Another process has the file open.
    #[error("{} is open in another process; wait until that has ended", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of something else, or of another version.
    #[error("{} holds no clients' states of format {expected}, found {found}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format that this version writes.
        expected: u32,
        /// What is there.
        found: String,
    },
    /// The store has no such checkpoint.
    #[error(
        "{} cannot go back to the checkpoint of round {round}; it has those of rounds {found:?}", path.display()
    )]
    NoCheckpoint {
        /// The file.
        path: PathBuf,
        /// The round asked for.
        round: usize,
        /// The rounds of the checkpoints that there are.
        found: Vec<usize>,
    },
    /// The store has a checkpoint of this round, of other states.
    #[error(
        "{} belongs to another run: its checkpoint of round {round} is of other states", path.display()
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The round.
        round: usize,
    },
    /// A value of a round that a later checkpoint or value has sealed.
    #[error(
        "{} takes states and checkpoints of later rounds than {latest}, found one of round {round}", path.display()
    )]
    Past {
        /// The file.
        path: PathBuf,
        /// The round of the value or checkpoint.
        round: usize,
        /// The latest round that can no longer change.
        latest: usize,
    },
}
