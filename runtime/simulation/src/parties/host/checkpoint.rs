//! Saves a host between two requests, and restores it.

use std::collections::BTreeSet;

use fedround_store::Archive;

use super::super::message::Attempt;
use super::PartyHost;
use crate::checkpoint_error::CheckpointError;
use crate::simulation::SavedState;

/// The part of an archive with what the coordinator has neither kept nor given up.
const PENDING: &str = "party/pending";

/// An attempt, the maps that ran in it, and the states that they set.
type Pending = Option<(Attempt, BTreeSet<usize>, Vec<SavedState>)>;

impl PartyHost {
    /// The states of the host's clients, also those of a round that the coordinator has not kept yet. A host
    /// that is saved after each answer loses no state when it starts anew; it loses what it holds for later
    /// regions of the round in progress, and replies to those that it failed.
    ///
    /// # Errors
    ///
    /// As [`Simulation::save`](crate::Simulation::save).
    pub fn save(&self) -> Result<Archive, CheckpointError> {
        let mut archive = self.simulation.save()?;
        let states = self.simulation.save_pending()?;
        let pending: Pending = self
            .attempt
            .map(|attempt| (attempt, self.ran.clone(), states));
        archive.insert(PENDING, &pending)?;
        Ok(archive)
    }

    /// Goes on from where a host of the same clients was [saved](Self::save).
    ///
    /// # Errors
    ///
    /// As [`Simulation::restore`](crate::Simulation::restore).
    pub fn restore(&mut self, archive: &Archive) -> Result<(), CheckpointError> {
        let pending: Pending = archive.get(PENDING)?;
        self.simulation.restore(archive)?;
        self.simulation.forget_round();
        self.end_attempt();
        if let Some((attempt, ran, states)) = pending {
            self.simulation.restore_pending(states)?;
            (self.attempt, self.ran) = (Some(attempt), ran);
        }
        Ok(())
    }
}
