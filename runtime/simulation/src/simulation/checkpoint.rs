//! Saves a simulation and restores it, bit for bit.
//!
//! Random choices are functions of the seed, the round and the client. Between two rounds, a simulation is therefore
//! its parameters, the states of the server and of clients, and the number of the round. If clients' states are in a
//! file of their own, they stay there, and the archive has the mark to which the file is rolled back.

use std::collections::HashMap;

use burn_dispatch::DispatchDevice;
use fedround_passes::lowering::Frontend;
use fedround_store::{Archive, ArchiveError, StoreMark, TensorBytes};
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::fingerprint::Fingerprint;
use super::saved_tensors::{shape_error, tensor_bytes, tensors_on_device};
use crate::checkpoint_error::CheckpointError;
use crate::state::{ClientState, Dispatched, Flight, InFlight, Key};

/// The version of the parts below.
const VERSION: u32 = 1;

const VERSION_PART: &str = "simulation/version";
const FINGERPRINT: &str = "simulation/fingerprint";
const POSITION: &str = "simulation/position";
const PARAMETERS: &str = "simulation/parameters";
pub(super) const SERVER: &str = "simulation/server";
const CLIENTS: &str = "simulation/clients";
/// The clients in flight. The archive only has this part if rounds are asynchronous.
const IN_FLIGHT: &str = "simulation/in-flight";
/// The committed attempts of each host. Only a coordinator's archive has this part.
const PARTIES: &str = "simulation/parties";

/// How far a simulation has come.
#[derive(Deserialize, Serialize)]
struct Position {
    /// The number of completed rounds.
    round: usize,
    /// The number of rounds that were left out because phases ended early.
    left_out: usize,
    /// For each device, the largest number of clients in one graph. It may be smaller than the user chose, if the
    /// device ran out of memory; the order of sums depends on it.
    groups: Vec<usize>,
}

/// A state of a client, by its client and name.
pub(crate) type SavedState = (usize, String, Vec<TensorBytes>);

/// A state by its name.
pub(super) type ServerStates = Vec<(String, Vec<TensorBytes>)>;

/// The clients in flight: the clock, each flight's client, version and arrival, and the dispatched values. Times are
/// the bits of 64-bit seconds.
#[derive(Deserialize, Serialize)]
struct SavedInFlight {
    now: u64,
    flights: Vec<(usize, usize, u64)>,
    /// By index and version.
    sent: Vec<((usize, usize), Vec<TensorBytes>)>,
    /// The phase of each dispatched value. Older checkpoints do not have it: the phase of the last round stands for it.
    #[serde(default)]
    phases: Vec<usize>,
}

fn restore_in_flight(
    saved: SavedInFlight,
    phase: usize,
    device: &DispatchDevice,
) -> Result<InFlight, CheckpointError> {
    let flights = saved.flights.into_iter();
    let flights = flights.map(|(client, version, arrives)| Flight {
        client,
        version,
        arrives: f64::from_bits(arrives),
    });
    let phases = saved.phases.into_iter().chain(std::iter::repeat(phase));
    let sent = saved.sent.into_iter().zip(phases);
    let sent = sent.map(|(((index, version), tensors), phase)| {
        let key = Dispatched {
            phase,
            index,
            version,
        };
        Ok((key, tensors_on_device(IN_FLIGHT, &tensors, device)?))
    });
    Ok(InFlight {
        now: f64::from_bits(saved.now),
        flights: flights.collect(),
        sent: sent.collect::<Result<_, CheckpointError>>()?,
    })
}

/// The states of clients, and the states that the server keeps for them.
#[derive(Deserialize, Serialize)]
enum ClientStates {
    /// The states themselves, ordered by key, so that equal states are equal bytes.
    Here(Vec<(Key, Vec<TensorBytes>)>),
    /// A mark in the file of [`Simulation::set_client_store`], which has the states.
    InFile(StoreMark),
}

impl Simulation {
    /// Saves everything that the next rounds depend on as an archive, which can be [written](Archive::write) to a file.
    /// A simulation of the same program, data and seed that [restores](Self::restore) it continues bit for bit. The
    /// simulation itself does not change.
    ///
    /// # Errors
    ///
    /// A device that holds a tensor has failed, or a state holds masks.
    pub fn save(&self) -> Result<Archive, CheckpointError> {
        let mut archive = Archive::default();
        archive.insert(VERSION_PART, &VERSION)?;
        archive.insert(FINGERPRINT, &Fingerprint::of(self)?)?;
        let position = Position {
            round: self.round,
            left_out: self.left_out_rounds,
            groups: self.devices().map(|device| device.group_size).collect(),
        };
        archive.insert(POSITION, &position)?;
        archive.insert(PARAMETERS, &tensor_bytes("parameters", &self.params)?)?;
        let server = self.state.server.iter();
        let server = server.map(|(name, tensors)| Ok((name.clone(), tensor_bytes(name, tensors)?)));
        let mut server = server.collect::<Result<ServerStates, CheckpointError>>()?;
        server.sort_by(|a, b| a.0.cmp(&b.0));
        archive.insert(SERVER, &server)?;
        archive.insert(CLIENTS, &self.save_clients()?)?;
        if let Some(in_flight) = self.save_in_flight()? {
            archive.insert(IN_FLIGHT, &in_flight)?;
        }
        let committed = self.committed_attempts();
        if !committed.is_empty() {
            archive.insert(PARTIES, &committed)?;
        }
        Ok(archive)
    }

    /// The clients in flight; `None` if rounds are not asynchronous.
    fn save_in_flight(&self) -> Result<Option<SavedInFlight>, CheckpointError> {
        let InFlight { now, flights, sent } = &self.state.in_flight;
        if flights.is_empty() && sent.is_empty() && *now == 0.0 {
            return Ok(None);
        }
        let flights = flights.iter();
        let flights = flights.map(|f| (f.client, f.version, f.arrives.to_bits()));
        let phases = sent.keys().map(|key| key.phase).collect();
        let sent = sent.iter().map(|(key, tensors)| {
            let tensors = tensor_bytes("dispatched", tensors)?;
            Ok(((key.index, key.version), tensors))
        });
        Ok(Some(SavedInFlight {
            now: now.to_bits(),
            flights: flights.collect(),
            sent: sent.collect::<Result<_, CheckpointError>>()?,
            phases,
        }))
    }

    /// Restores the state of another simulation that was [saved](Self::save).
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Other`] if that simulation had another program, other data, another seed or other devices; an
    /// error of the archive if it holds no simulation; [`CheckpointError::NoClientStore`] if the archive goes with a
    /// file of clients' states that was not [named](Self::set_client_store). If the archive has the states itself, a
    /// file at the named path is removed if it is one of clients' states; any other file there is an error.
    ///
    /// After an error, this simulation is as it was.
    pub fn restore(&mut self, archive: &Archive) -> Result<(), CheckpointError> {
        check_version(archive)?;
        Fingerprint::of(self)?.check(&archive.get(FINGERPRINT)?)?;
        let position: Position = archive.get(POSITION)?;
        let device = self.program().device();
        let params: Vec<TensorBytes> = archive.get(PARAMETERS)?;
        let types = self.program().model().parameters().iter();
        let shapes = types.map(|(_, ty)| &ty.shape[..]);
        if !shapes.eq(params.iter().map(|t| &t.shape[..])) {
            return Err(shape_error(PARAMETERS).into());
        }
        let params = tensors_on_device(PARAMETERS, &params, device)?;
        let mut server = HashMap::new();
        for (name, tensors) in archive.get::<ServerStates>(SERVER)? {
            server.insert(name, tensors_on_device(SERVER, &tensors, device)?);
        }
        let committed = archive.find(PARTIES)?.unwrap_or_default();
        let in_flight = match archive.find(IN_FLIGHT)? {
            None => InFlight::default(),
            Some(saved) => {
                let (phase, _) = self.program().phase_of(position.round + position.left_out);
                restore_in_flight(saved, phase, device)?
            }
        };
        self.restore_clients(archive.get(CLIENTS)?, position.round)?;
        self.state.in_flight = in_flight;
        self.restore_committed_attempts(committed);
        (self.params, self.state.server) = (params, server);
        (self.round, self.left_out_rounds) = (position.round, position.left_out);
        for (device, group) in self.devices_mut().zip(position.groups) {
            device.group_size = group;
        }
        Ok(())
    }

    /// The states that clients set in the round in progress, ordered by client and name.
    pub(crate) fn save_pending(&self) -> Result<Vec<SavedState>, CheckpointError> {
        let states = self.state.clients.pending();
        let states = states.map(|((client, name), tensors)| {
            Ok((*client, name.clone(), tensor_bytes(name, tensors)?))
        });
        let mut states = states.collect::<Result<Vec<SavedState>, CheckpointError>>()?;
        states.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        Ok(states)
    }

    /// Sets states of clients in the round in progress.
    pub(crate) fn restore_pending(&mut self, states: Vec<SavedState>) -> Result<(), ArchiveError> {
        let device = self.program().device();
        let states = states.into_iter().map(|(client, name, tensors)| {
            let tensors = tensors_on_device(CLIENTS, &tensors, device)?;
            Ok(((client, name), tensors))
        });
        let states = states.collect::<Result<Vec<ClientState>, ArchiveError>>()?;
        self.set_client_states(states);
        Ok(())
    }

    /// The states of all clients, or a mark in their file.
    fn save_clients(&self) -> Result<ClientStates, CheckpointError> {
        let states = self.state.committed();
        if let Some(mark) = states.checkpoint(self.round)? {
            return Ok(ClientStates::InFile(mark));
        }
        let all = states.all()?.into_iter();
        let all = all.map(|(key, tensors)| {
            let bytes = tensor_bytes(&key.name, &tensors)?;
            Ok((key, bytes))
        });
        Ok(ClientStates::Here(
            all.collect::<Result<_, CheckpointError>>()?,
        ))
    }

    /// Replaces the states of all clients by those of a checkpoint after `rounds` rounds. If that fails, none is
    /// replaced.
    fn restore_clients(
        &mut self,
        saved: ClientStates,
        rounds: usize,
    ) -> Result<(), CheckpointError> {
        let states = self.state.committed();
        match saved {
            ClientStates::InFile(mark) if !states.has_path() => {
                return Err(CheckpointError::NoClientStore { round: mark.round });
            }
            ClientStates::InFile(mark) => states.restore(Some(&mark))?,
            ClientStates::Here(saved) => {
                let device = self.program().device();
                let tensors = saved
                    .into_iter()
                    .map(|(key, tensors)| Ok((key, tensors_on_device(CLIENTS, &tensors, device)?)));
                let tensors = tensors.collect::<Result<_, ArchiveError>>()?;
                states.replace(tensors, rounds)?;
            }
        }
        Ok(())
    }
}

/// Fails if the checkpoint has another version.
pub(super) fn check_version(archive: &Archive) -> Result<(), CheckpointError> {
    let (found, newest) = (archive.get(VERSION_PART)?, VERSION);
    match found == newest {
        true => Ok(()),
        false => Err(CheckpointError::Version { found, newest }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatched_values_of_older_checkpoints_are_read() {
        #[derive(Serialize)]
        struct Older {
            now: u64,
            flights: Vec<(usize, usize, u64)>,
            sent: Vec<((usize, usize), Vec<TensorBytes>)>,
        }
        let (flights, sent) = (vec![(3, 1, 7)], vec![((2, 1), vec![])]);
        let (now, mut archive) = (0, Archive::default());
        let older = Older { now, flights, sent };
        archive.insert(IN_FLIGHT, &older).unwrap();
        let device = DispatchDevice::Flex(Default::default());
        let restored = restore_in_flight(archive.get(IN_FLIGHT).unwrap(), 1, &device).unwrap();
        let keys = restored.sent.into_keys();
        let keys: Vec<_> = keys.map(|k| (k.phase, k.index, k.version)).collect();
        assert_eq!(keys, [(1, 2, 1)]);
    }
}
