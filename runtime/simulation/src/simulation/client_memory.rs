//! Limits the memory of the clients' states: beyond a budget they are kept in a file.

use std::path::PathBuf;

use super::Simulation;
use crate::error::RunError;
use crate::state::ClientMemory;

impl Simulation {
    /// Keeps at most `bytes` bytes of clients' states in memory from one round to the next. The states that were used
    /// longest ago are kept in a file, which is read ahead for the clients of a cohort. Without a budget, all states
    /// stay in memory. Results are the same bit for bit, except for 16-bit states on GPUs, which the file stores as
    /// 32-bit floats.
    ///
    /// The file is a temporary one that is deleted with the simulation, unless
    /// [`set_client_store`](Self::set_client_store) chooses a path.
    #[must_use]
    pub fn with_client_memory(self, bytes: usize) -> Self {
        self.state.committed().set_budget(bytes);
        self
    }

    /// Keeps clients' states in the file `path`. It is created when states are first written: when they outgrow the
    /// [budget](Self::with_client_memory), or at a checkpoint. The file must not exist yet, unless the simulation is
    /// then [restored](Self::restore) from an archive that goes with it.
    ///
    /// States that there are already move there from memory and from the file before, which stays as it is. All of
    /// them are in memory meanwhile. The same path again changes nothing.
    ///
    /// # Errors
    ///
    /// The states cannot be read from the file before.
    pub fn set_client_store(&mut self, path: impl Into<PathBuf>) -> Result<(), RunError> {
        self.state.committed().set_path(path.into())
    }

    /// How much memory the clients' states take.
    pub fn client_memory(&self) -> ClientMemory {
        self.state.committed().memory()
    }
}
