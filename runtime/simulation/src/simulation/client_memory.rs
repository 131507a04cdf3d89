//! Keeps the clients' states in memory, and in a file beyond a budget.

use std::path::PathBuf;

use super::Simulation;
use crate::state::ClientMemory;

impl Simulation {
    /// Keeps so many bytes of clients' states in memory from one round to the next; those that were
    /// used longest ago are kept in a file, which is read ahead of the cohort. Without a budget, all
    /// states are in memory. Results are the same bit for bit, except those of 16-bit states on GPUs,
    /// which a file has as 32-bit floats.
    ///
    /// The file is a temporary one, which is gone with the simulation, unless
    /// [`set_client_store`](Self::set_client_store) chooses another.
    #[must_use]
    pub fn with_client_memory(self, bytes: usize) -> Self {
        self.state.of_clients().set_budget(bytes);
        self
    }

    /// Keeps clients' states in this file, which is made when states are first written: when they
    /// outgrow the [budget](Self::with_client_memory), and at a checkpoint. There must be no such file
    /// yet.
    pub fn set_client_store(&mut self, path: impl Into<PathBuf>) {
        self.state.of_clients().set_path(path.into());
    }

    /// How much memory the clients' states take.
    pub fn client_memory(&self) -> ClientMemory {
        self.state.of_clients().memory()
    }
}
