//! Saves a host between two requests, and restores it.

use std::collections::BTreeSet;

use fedround_store::Archive;

use super::super::message::Attempt;
use super::PartyHost;
use crate::checkpoint_error::CheckpointError;
use crate::simulation::SavedState;

/// The part of an archive with the attempt that the coordinator has neither committed nor given up.
const PENDING: &str = "party/pending";

/// An attempt, the maps that ran in it, and the states that they set.
type Pending = Option<(Attempt, BTreeSet<usize>, Vec<SavedState>)>;

impl PartyHost {
    /// Saves the states of the host's clients, including those of a round that the coordinator has not committed yet.
    /// A host that is saved after each reply loses no state when it restarts. It does lose values for later regions
    /// of the round in progress, and answers requests for these with an error.
    ///
    /// # Errors
    ///
    /// As [`Simulation::save`](crate::Simulation::save).
    pub fn save(&self) -> Result<Archive, CheckpointError> {
        let mut archive = self.simulation.save()?;
        let states = self.simulation.save_pending()?;
        let pending: Pending = self
            .attempt
            .map(|attempt| (attempt, self.completed_maps.clone(), states));
        archive.insert(PENDING, &pending)?;
        Ok(archive)
    }

    /// Restores a host of the same clients that was [saved](Self::save).
    ///
    /// # Errors
    ///
    /// As [`Simulation::restore`](crate::Simulation::restore).
    pub fn restore(&mut self, archive: &Archive) -> Result<(), CheckpointError> {
        let pending: Pending = archive.get(PENDING)?;
        self.simulation.restore(archive)?;
        self.simulation.discard_round();
        self.end_attempt();
        if let Some((attempt, completed_maps, states)) = pending {
            self.simulation.restore_pending(states)?;
            (self.attempt, self.completed_maps) = (Some(attempt), completed_maps);
        }
        Ok(())
    }
}
