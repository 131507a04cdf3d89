//! Named tensors of clients, without versions: final models, for example.

use super::ClientStore;
use super::codec::{Named, decode, encode};
use super::database::{Failure, MODELS};
use super::error::ClientStoreError;
use crate::TensorBytes;

impl ClientStore {
    /// Keeps a client's tensors in a set of this name, in place of earlier ones. They are in the file
    /// for good after [`sync`](Self::sync), [`checkpoint`](Self::checkpoint) or closing the store;
    /// rolling back does not touch them.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn put(
        &self,
        set: &str,
        client: usize,
        tensors: &[(String, TensorBytes)],
    ) -> Result<(), ClientStoreError> {
        let named = tensors.iter().map(|(name, tensor)| (&**name, tensor));
        let (value, _) = encode(&key(set, client), named);
        self.handle.write("write", false, |txn| {
            let mut models = txn.open_table(MODELS)?;
            models.insert((set, client as u64), &value[..])?;
            Ok(())
        })
    }

    /// A client's tensors in a set, as they were [put](Self::put); `None` if there are none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn tensors_of(
        &self,
        set: &str,
        client: usize,
    ) -> Result<Option<Vec<Named>>, ClientStoreError> {
        self.handle.read(|txn| {
            let models = txn.open_table(MODELS)?;
            let Some(value) = models.get((set, client as u64))? else {
                return Ok(None);
            };
            let tensors = decode(&key(set, client), value.value());
            let damaged = |what| Failure::Damaged(format!("`{set}` of client {client}: {what}"));
            tensors.map(Some).map_err(damaged)
        })
    }

    /// The clients that have tensors in a set, ascending.
    ///
    /// # Errors
    ///
    /// As [`tensors_of`](Self::tensors_of).
    pub fn clients_in(&self, set: &str) -> Result<Vec<usize>, ClientStoreError> {
        self.handle.read(|txn| {
            let models = txn.open_table(MODELS)?;
            let rows = models.range((set, 0)..=(set, u64::MAX))?;
            let clients = rows.map(|row| Ok(row?.0.value().1 as usize));
            clients.collect()
        })
    }
}

fn key(set: &str, client: usize) -> Vec<u8> {
    let mut key = (client as u64).to_le_bytes().to_vec();
    key.extend(set.as_bytes());
    key
}
