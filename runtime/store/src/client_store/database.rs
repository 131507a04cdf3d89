//! The redb database under a store: opening it, and transactions whose failures are typed errors.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::{
    Builder, Database, DatabaseError, Durability, ReadOnlyDatabase, ReadTransaction,
    ReadableDatabase, ReadableTable, StorageError, TableDefinition, WriteTransaction,
};

use super::error::ClientStoreError;
use super::scratch::Scratch;
use super::versions::Checkpoints;
use super::{CACHE_BYTES, unnamed};
use crate::space;

/// Names and clients.
pub(super) type Owner = (&'static str, u64);

/// Tensors of states, by name, client and version.
pub(super) const VALUES: TableDefinition<(&str, u64, u64), &[u8]> = TableDefinition::new("values");
/// The versions of each state, ascending. A lookup here reads no tensors.
pub(super) const VERSIONS: TableDefinition<Owner, Vec<u64>> = TableDefinition::new("versions");
/// The states that have several versions.
pub(super) const SUPERSEDED: TableDefinition<Owner, ()> = TableDefinition::new("superseded");
/// The checkpoints, ascending: round and history.
const CHECKPOINTS: TableDefinition<u64, [u8; 32]> = TableDefinition::new("checkpoints");
/// The table with what is known of the whole store.
const ABOUT: TableDefinition<&str, &[u8]> = TableDefinition::new("about");

/// What [`ABOUT`] has under these names.
const FORMAT: &str = "format";
const HISTORY: &str = "history";

/// The format that this version reads and writes.
const VERSION: u32 = 1;

/// Why work in a transaction failed.
pub(super) enum Failure {
    Database(redb::Error),
    Damaged(String),
    Store(ClientStoreError),
}

impl<E: Into<redb::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

enum Opened {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

/// An open database and its name.
pub(super) struct Handle {
    /// Taken when it is closed.
    opened: Option<Opened>,
    path: PathBuf,
}

impl Handle {
    pub fn create(path: &Path) -> Result<Self, ClientStoreError> {
        let path = path.to_owned();
        let new = std::fs::File::create_new(&path);
        match new {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(ClientStoreError::Exists { path });
            }
            Err(error) => {
                let error = DatabaseError::from(StorageError::Io(error));
                return Err(failed("create", &path, error.into()));
            }
            Ok(_) => {}
        }
        let opened = guarded("create", &path, || Ok(builder().create(&path)?))?;
        Self::prepared(opened, path)
    }

    pub fn temporary() -> Result<Self, ClientStoreError> {
        let path = unnamed();
        let opened = guarded("create", &path, || {
            let file = tempfile::tempfile().map_err(StorageError::Io)?;
            Ok(builder().create_with_backend(Scratch::new(file)?)?)
        })?;
        Self::prepared(opened, path)
    }

    /// With the tables of an empty store.
    fn prepared(opened: Database, path: PathBuf) -> Result<Self, ClientStoreError> {
        let this = Self {
            opened: Some(Opened::Writable(opened)),
            path,
        };
        this.write("create", true, |txn| {
            txn.open_table(VALUES)?;
            txn.open_table(VERSIONS)?;
            txn.open_table(SUPERSEDED)?;
            txn.open_table(CHECKPOINTS)?;
            let mut about = txn.open_table(ABOUT)?;
            about.insert(FORMAT, &VERSION.to_le_bytes()[..])?;
            about.insert(HISTORY, &[0; 32][..])?;
            Ok(())
        })?;
        Ok(this)
    }

    pub fn open(path: &Path) -> Result<Self, ClientStoreError> {
        let opened = guarded("open", path, || {
            let mut builder = builder();
            Ok(builder.set_check_integrity_on_open(true).open(path)?)
        })?;
        Self::checked(Opened::Writable(opened), path)
    }

    pub fn open_read_only(path: &Path) -> Result<Self, ClientStoreError> {
        let opened = guarded("open", path, || Ok(builder().open_read_only(path)?))?;
        Self::checked(Opened::ReadOnly(opened), path)
    }

    /// The database, if its format is one that this version knows.
    fn checked(opened: Opened, path: &Path) -> Result<Self, ClientStoreError> {
        let this = Self {
            opened: Some(opened),
            path: path.to_owned(),
        };
        let about = this.read(|txn| {
            let about = match txn.open_table(ABOUT) {
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                about => about?,
            };
            Ok(about.get(FORMAT)?.map(|found| found.value().to_vec()))
        })?;
        if about.as_deref() == Some(&VERSION.to_le_bytes()[..]) {
            return Ok(this);
        }
        let found = match about.as_deref().and_then(|found| found.try_into().ok()) {
            Some(found) => format!("format {}", u32::from_le_bytes(found)),
            None => "something else".to_owned(),
        };
        Err(ClientStoreError::Format {
            path: this.path.clone(),
            expected: VERSION,
            found,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads in a transaction.
    pub fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, Failure>,
    ) -> Result<T, ClientStoreError> {
        guarded("read", &self.path, || {
            let txn = match &self.opened {
                Some(Opened::Writable(opened)) => opened.begin_read()?,
                Some(Opened::ReadOnly(opened)) => opened.begin_read()?,
                None => return Err(StorageError::DatabaseClosed.into()),
            };
            work(&txn)
        })
    }

    /// Writes in a transaction, all or nothing; `durable` waits for the disk.
    pub fn write<T>(
        &self,
        action: &'static str,
        durable: bool,
        work: impl FnOnce(&WriteTransaction) -> Result<T, Failure>,
    ) -> Result<T, ClientStoreError> {
        guarded(action, &self.path, || {
            let Some(Opened::Writable(opened)) = &self.opened else {
                let read_only = std::io::Error::from(ErrorKind::ReadOnlyFilesystem);
                return Err(StorageError::Io(read_only).into());
            };
            let mut txn = opened.begin_write()?;
            if !durable {
                txn.set_durability(Durability::None)?;
            }
            let done = work(&txn)?;
            txn.commit()?;
            Ok(done)
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Closing a damaged database may panic, as any other use of it.
        let opened = self.opened.take();
        _ = catch_unwind(AssertUnwindSafe(|| drop(opened)));
    }
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Runs work on the database, whose panics are errors of a damaged file.
fn guarded<T>(
    action: &'static str,
    path: &Path,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, ClientStoreError> {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Failure::Damaged(text.unwrap_or("the database gave up").to_owned())
        }
    };
    Err(match failure {
        Failure::Database(error) => failed(action, path, error),
        Failure::Damaged(what) => {
            let path = path.to_owned();
            ClientStoreError::Damaged { path, what }
        }
        Failure::Store(error) => error,
    })
}

fn failed(action: &'static str, path: &Path, error: redb::Error) -> ClientStoreError {
    let path = path.to_owned();
    let end = [ErrorKind::UnexpectedEof, ErrorKind::InvalidData];
    match error {
        redb::Error::Corrupted(what) => ClientStoreError::Damaged { path, what },
        redb::Error::Io(error) if end.contains(&error.kind()) => {
            let what = error.to_string();
            ClientStoreError::Damaged { path, what }
        }
        redb::Error::Io(error) if space::is_full(&error) => {
            let free = space::free(&path);
            ClientStoreError::NoSpace { path, free }
        }
        redb::Error::DatabaseAlreadyOpen => ClientStoreError::Busy { path },
        error => ClientStoreError::Database {
            action,
            path,
            source: Box::new(error),
        },
    }
}

/// The digest of all that was written.
pub(super) fn history(txn: &WriteTransaction) -> Result<[u8; 32], Failure> {
    let about = txn.open_table(ABOUT)?;
    let found = about.get(HISTORY)?;
    let found = found.and_then(|found| found.value().try_into().ok());
    found.ok_or_else(|| Failure::Damaged("the digest of its values is missing".to_owned()))
}

pub(super) fn set_history(txn: &WriteTransaction, history: [u8; 32]) -> Result<(), Failure> {
    txn.open_table(ABOUT)?.insert(HISTORY, &history[..])?;
    Ok(())
}

pub(super) fn checkpoints(txn: &WriteTransaction) -> Result<Checkpoints, Failure> {
    let mut all = Checkpoints::default();
    for row in txn.open_table(CHECKPOINTS)?.iter()? {
        let (round, history) = row?;
        all.0.push((round.value(), history.value()));
    }
    Ok(all)
}

pub(super) fn set_checkpoints(txn: &WriteTransaction, all: &Checkpoints) -> Result<(), Failure> {
    let mut table = txn.open_table(CHECKPOINTS)?;
    table.retain(|_, _| false)?;
    for (round, history) in &all.0 {
        table.insert(round, history)?;
    }
    Ok(())
}
