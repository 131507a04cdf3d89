//! States with versions: reading, writing, checkpoints and rolling back.

use redb::{ReadableTable, Table, WriteTransaction};
use sha2::{Digest, Sha256};

use super::codec::{decode, encode};
use super::database::{
    Failure, Owner, SUPERSEDED, VALUES, VERSIONS, checkpoints, history, set_checkpoints,
    set_history,
};
use super::error::ClientStoreError;
use super::versions::Checkpoints;
use super::{ClientState, ClientStore, StoreMark};
use crate::TensorBytes;

impl ClientStore {
    /// The newest value of a client's state; `None` if it was never set.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn get(
        &self,
        name: &str,
        client: usize,
    ) -> Result<Option<Vec<TensorBytes>>, ClientStoreError> {
        self.handle.read(|txn| {
            let owner = (name, client as u64);
            let versions = txn.open_table(VERSIONS)?.get(owner)?;
            let Some(version) = versions.and_then(|all| all.value().last().copied()) else {
                return Ok(None);
            };
            let values = txn.open_table(VALUES)?;
            let value = values.get((name, client as u64, version))?;
            let value = value.ok_or_else(|| lost(owner, version))?;
            let tensors = decode(&key(owner, version), value.value());
            Ok(Some(tensors.map_err(|what| broken(owner, version, &what))?))
        })
    }

    /// The names and clients of all states, ascending.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn states(&self) -> Result<Vec<(String, usize)>, ClientStoreError> {
        self.handle.read(|txn| {
            let mut states = vec![];
            for row in txn.open_table(VERSIONS)?.iter()? {
                let (owner, _) = row?;
                let (name, client) = owner.value();
                states.push((name.to_owned(), client as usize));
            }
            Ok(states)
        })
    }

    /// Adds versions of states, all or none of them, without waiting for the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written, as when the disk is full; or a state is of a round that the last
    /// checkpoint or a newer value has sealed.
    pub fn write(&self, states: &[ClientState]) -> Result<(), ClientStoreError> {
        self.handle.write("write", false, |txn| {
            let checkpoints = checkpoints(txn)?;
            let mut tables = Tables::open(txn)?;
            let mut digest = Sha256::new_with_prefix(history(txn)?);
            for state in states {
                let (owner, round) = ((&*state.name, state.client as u64), state.round as u64);
                let mut versions = tables.versions(owner)?;
                let newest = versions.last().copied();
                let sealed = checkpoints.last();
                if let Some(latest) = sealed
                    .filter(|r| *r >= round)
                    .max(newest.filter(|v| *v > round))
                {
                    return Err(self.past(state.round, latest));
                }
                if newest != Some(round) {
                    versions.push(round);
                }
                let key = key(owner, round);
                let (value, checksum) = encode(&key, &state.tensors);
                tables
                    .values
                    .insert((owner.0, owner.1, round), &value[..])?;
                tables.prune(&checkpoints, owner, versions)?;
                digest.update(key);
                digest.update(checksum.to_le_bytes());
            }
            set_history(txn, digest.finalize().into())
        })
    }

    /// Seals all that was written, waits until it is on the disk, and removes the versions that none
    /// of the kept checkpoints needs. A second checkpoint of a round replaces the first.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the last checkpoint is of a later round.
    pub fn checkpoint(&self, round: usize) -> Result<StoreMark, ClientStoreError> {
        self.handle.write("write", true, |txn| {
            let mut all = checkpoints(txn)?;
            if let Some(latest) = all.last().filter(|last| *last > round as u64) {
                return Err(self.past(round, latest));
            }
            let history = history(txn)?;
            all.add(round as u64, history);
            set_checkpoints(txn, &all)?;
            let mut tables = Tables::open(txn)?;
            for (name, client) in tables.superseded()? {
                let owner = (&*name, client);
                let versions = tables.versions(owner)?;
                tables.prune(&all, owner, versions)?;
            }
            Ok(StoreMark { round, history })
        })
    }

    /// Goes back to a checkpoint: forgets all versions and checkpoints of later rounds.
    ///
    /// # Errors
    ///
    /// The file cannot be written, it has no such checkpoint, or the checkpoint is of other states.
    pub fn rollback(&self, mark: &StoreMark) -> Result<(), ClientStoreError> {
        let round = mark.round as u64;
        self.handle.write("write", true, |txn| {
            let mut all = checkpoints(txn)?;
            let found = all.0.iter().find(|(known, _)| *known == round);
            let path = || self.path().to_owned();
            match found {
                None => {
                    let found = all.0.iter().map(|(round, _)| *round as usize).collect();
                    return Err(Failure::Store(ClientStoreError::NoCheckpoint {
                        path: path(),
                        round: mark.round,
                        found,
                    }));
                }
                Some((_, history)) if *history != mark.history => {
                    return Err(Failure::Store(ClientStoreError::OtherRun {
                        path: path(),
                        round: mark.round,
                    }));
                }
                Some(_) => {}
            }
            all.0.retain(|(known, _)| *known <= round);
            set_checkpoints(txn, &all)?;
            set_history(txn, mark.history)?;
            let mut tables = Tables::open(txn)?;
            for (name, client) in tables.set_after(round)? {
                let owner = (&*name, client);
                let versions = tables.versions(owner)?;
                let (kept, later) = versions.into_iter().partition(|v| *v <= round);
                tables.remove(owner, later)?;
                tables.prune(&all, owner, kept)?;
            }
            Ok(())
        })
    }

    fn past(&self, round: usize, latest: u64) -> Failure {
        Failure::Store(ClientStoreError::Past {
            path: self.path().to_owned(),
            round,
            latest: latest as usize,
        })
    }
}

/// The tables of states in a transaction that writes.
struct Tables<'t> {
    values: Table<'t, (&'static str, u64, u64), &'static [u8]>,
    versions: Table<'t, Owner, Vec<u64>>,
    superseded: Table<'t, Owner, ()>,
}

impl<'t> Tables<'t> {
    fn open(txn: &'t WriteTransaction) -> Result<Self, Failure> {
        Ok(Self {
            values: txn.open_table(VALUES)?,
            versions: txn.open_table(VERSIONS)?,
            superseded: txn.open_table(SUPERSEDED)?,
        })
    }

    fn versions(&self, owner: (&str, u64)) -> Result<Vec<u64>, Failure> {
        let row = self.versions.get(owner)?;
        Ok(row.map(|row| row.value()).unwrap_or_default())
    }

    /// The states that have several versions.
    fn superseded(&self) -> Result<Vec<(String, u64)>, Failure> {
        let mut owners = vec![];
        for row in self.superseded.iter()? {
            let (owner, _) = row?;
            let (name, client) = owner.value();
            owners.push((name.to_owned(), client));
        }
        Ok(owners)
    }

    /// The states that were set after a round.
    fn set_after(&self, round: u64) -> Result<Vec<(String, u64)>, Failure> {
        let mut owners = vec![];
        for row in self.versions.iter()? {
            let (owner, versions) = row?;
            if versions.value().last().is_some_and(|v| *v > round) {
                let (name, client) = owner.value();
                owners.push((name.to_owned(), client));
            }
        }
        Ok(owners)
    }

    /// Sets the versions that a state has, without those that no checkpoint needs.
    fn prune(
        &mut self,
        checkpoints: &Checkpoints,
        owner: (&str, u64),
        versions: Vec<u64>,
    ) -> Result<(), Failure> {
        let (needed, others) = checkpoints.needed(&versions);
        self.remove(owner, others)?;
        match needed.len() {
            0 => self.versions.remove(owner)?.map(drop),
            _ => self.versions.insert(owner, needed.clone())?.map(drop),
        };
        match needed.len() {
            0 | 1 => self.superseded.remove(owner)?.map(drop),
            _ => self.superseded.insert(owner, ())?.map(drop),
        };
        Ok(())
    }

    fn remove(&mut self, (name, client): (&str, u64), versions: Vec<u64>) -> Result<(), Failure> {
        for version in versions {
            self.values.remove((name, client, version))?;
        }
        Ok(())
    }
}

/// What a value's checksum covers beside the value.
fn key((name, client): (&str, u64), version: u64) -> Vec<u8> {
    let mut key = client.to_le_bytes().to_vec();
    key.extend(version.to_le_bytes());
    key.extend(name.as_bytes());
    key
}

fn lost((name, client): (&str, u64), version: u64) -> Failure {
    Failure::Damaged(format!(
        "the state `{name}` of client {client} from round {version} is missing"
    ))
}

fn broken((name, client): (&str, u64), version: u64, what: &str) -> Failure {
    Failure::Damaged(format!(
        "the state `{name}` of client {client} from round {version}: {what}"
    ))
}
