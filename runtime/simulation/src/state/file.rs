//! The file of clients' states, which is created when it is first needed.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use burn_dispatch::DispatchDevice;
use fedround_store::{ClientState, ClientStore, ClientStoreError, StoreMark};

use super::resident::{Key, Side, Unsaved};
use crate::error::RunError;
use crate::tensor_bytes::{from_bytes, to_bytes};
use burn::tensor::DispatchTensor;

/// The number of states that are written at a time.
const CHUNK: usize = 16;

/// The file of clients' states, and its path.
#[derive(Default)]
pub(super) struct StateFile(Mutex<Place>);

#[derive(Default)]
struct Place {
    /// The path; `None` of a temporary file.
    path: Option<PathBuf>,
    /// The open file; `None` before it is needed.
    open: Option<Arc<ClientStore>>,
}

impl StateFile {
    fn lock(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The path; `None` of a temporary file.
    pub fn path(&self) -> Option<PathBuf> {
        self.lock().path.clone()
    }

    /// Sets the path, and closes the file if one is open.
    pub fn set_path(&self, path: PathBuf) {
        *self.lock() = Place {
            path: Some(path),
            open: None,
        };
    }

    /// Whether the file outlives the process: it has a path, and nobody deleted it while it was open.
    pub fn outlives_process(&self) -> bool {
        let place = self.lock();
        let path = place.path.as_ref();
        path.is_some_and(|path| place.open.is_none() || path.exists())
    }

    /// The open file; `None` before it is needed.
    pub fn opened(&self) -> Option<Arc<ClientStore>> {
        self.lock().open.clone()
    }

    /// The open file. Creates a new one if none is open.
    pub fn get(&self) -> Result<Arc<ClientStore>, ClientStoreError> {
        let mut place = self.lock();
        if let Some(open) = &place.open {
            return Ok(Arc::clone(open));
        }
        let new = match &place.path {
            Some(path) => ClientStore::create(path)?,
            None => ClientStore::temporary()?,
        };
        Ok(Arc::clone(place.open.insert(Arc::new(new))))
    }

    /// Rolls the open file back to a mark, or that of an earlier process if none is open. If that fails, all is as
    /// before.
    pub fn roll_back(&self, mark: &StoreMark) -> Result<(), RunError> {
        let mut place = self.lock();
        let store = match (&place.open, &place.path) {
            (Some(open), _) => Arc::clone(open),
            (None, Some(path)) => Arc::new(ClientStore::open(path)?),
            (None, None) => Arc::new(ClientStore::temporary()?),
        };
        store.rollback(mark)?;
        place.open = Some(store);
        Ok(())
    }

    /// Removes the file. One that is not open must be a store of clients' states, or empty: it may be damaged, or of
    /// another version. If that fails, all is as before.
    pub fn remove(&self) -> Result<(), RunError> {
        let mut place = self.lock();
        let Some(path) = place.path.clone() else {
            place.open = None;
            return Ok(());
        };
        if place.open.is_none() {
            let may_be_store = ClientStore::may_be_at(&path);
            let path = path.clone();
            match may_be_store {
                Ok(true) => {}
                Ok(false) => return Err(RunError::NotAStatesFile { path }),
                Err(source) => return Err(RunError::RemoveStates { path, source }),
            }
        }
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(RunError::RemoveStates { path, source })
            }
            _ => {
                place.open = None;
                Ok(())
            }
        }
    }

    /// Reads a state into host memory.
    pub fn read(&self, key: &Key) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        let Some(store) = self.opened() else {
            return Ok(None);
        };
        let name = stored_name(key);
        let Some(tensors) = store.get(&name, key.client)? else {
            return Ok(None);
        };
        let host = DispatchDevice::Flex(Default::default());
        let tensors = tensors.iter().map(|bytes| from_bytes(bytes, &host));
        let tensors: Option<Vec<_>> = tensors.collect();
        tensors.map(Some).ok_or_else(|| {
            let what = format!("the shape of `{name}` of client {}", key.client);
            let path = store.path().to_owned();
            ClientStoreError::Damaged { path, what }.into()
        })
    }

    /// Writes states, a few at a time: the bytes of all of them would take as much memory as their tensors. If that
    /// fails, the file has some of them. They may be written again.
    pub fn write(&self, states: &[Unsaved]) -> Result<(), RunError> {
        let mut chunks = states.chunks(CHUNK);
        chunks.try_for_each(|some| self.write_at_once(some))
    }

    /// Writes all of these states or none.
    fn write_at_once(&self, states: &[Unsaved]) -> Result<(), RunError> {
        let bytes = |state: &Unsaved| -> Result<ClientState, RunError> {
            let name = stored_name(&state.key);
            let tensors = to_bytes(&state.tensors)?;
            let tensors = tensors.ok_or_else(|| RunError::StateOfMasks { name: name.clone() })?;
            Ok(ClientState {
                name,
                client: state.key.client,
                round: state.version,
                tensors,
            })
        };
        let states: Vec<ClientState> = states.iter().map(bytes).collect::<Result<_, RunError>>()?;
        Ok(self.get()?.write(&states)?)
    }

    /// The states that the file has.
    pub fn keys(&self) -> Result<Vec<Key>, RunError> {
        let Some(store) = self.opened() else {
            return Ok(vec![]);
        };
        let keys = store.states()?.into_iter();
        Ok(keys
            .filter_map(|(name, client)| {
                let (side, name) = name.split_once('/')?;
                let side = if side == SERVER {
                    Side::Server
                } else {
                    Side::Client
                };
                let name = name.to_owned();
                Some(Key { side, client, name })
            })
            .collect())
    }
}

/// States that another thread is writing to the file.
pub(super) struct Writing {
    pub states: Arc<Vec<Unsaved>>,
    thread: JoinHandle<Result<(), RunError>>,
}

impl Writing {
    pub fn start(file: &Arc<StateFile>, states: &Arc<Vec<Unsaved>>) -> io::Result<Self> {
        let (file, own) = (Arc::clone(file), Arc::clone(states));
        let thread = thread::Builder::new().name("client-states".to_owned());
        let thread = thread.spawn(move || file.write(&own))?;
        let states = Arc::clone(states);
        Ok(Self { states, thread })
    }

    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until they are written.
    pub fn join(self) -> thread::Result<Result<(), RunError>> {
        self.thread.join()
    }
}

/// The prefixes of the names of states in the file.
const CLIENT: &str = "client";
const SERVER: &str = "server";

/// The name of a state in the file.
fn stored_name(key: &Key) -> String {
    let side = match key.side {
        Side::Client => CLIENT,
        Side::Server => SERVER,
    };
    format!("{side}/{}", key.name)
}

#[cfg(test)]
mod tests {
    use fedround_exec::tensor::constant;
    use fedround_ir::tensor::{Constant, DType, TensorType};

    use super::CHUNK;
    use crate::state::State;
    use crate::state::tests::{set, value};

    /// The last one is a mask, which no file can hold.
    #[test]
    fn states_of_which_the_file_got_some_are_written_again() {
        let last = 2 * CHUNK;
        let mut all = State::default();
        all.committed().set_budget(0);
        for client in 0..last {
            set(&mut all, client, client as f32);
        }
        let ty = TensorType::new(DType::Bool, [1]);
        let values = [1.0].into();
        let mask = constant(&Constant { ty, values }, &Default::default());
        all.clients
            .extend(vec![((last, "c".to_owned()), vec![mask])]);
        all.commit();
        // The next end of a round waits for the file.
        all.commit();
        assert_eq!(all.committed().file.keys().unwrap().len(), last);
        let error = all.committed().check().unwrap_err().to_string();
        assert!(error.contains("masks"), "{error}");

        set(&mut all, 0, -1.0);
        set(&mut all, last, -2.0);
        all.commit();
        all.commit();
        all.committed().check().unwrap();
        assert_eq!(all.committed().memory().bytes, 0);
        assert_eq!([0, last].map(|k| value(&all, k)), [Some(-1.0), Some(-2.0)]);
        for client in 1..last {
            assert_eq!(value(&all, client), Some(client as f32));
        }
    }
}
