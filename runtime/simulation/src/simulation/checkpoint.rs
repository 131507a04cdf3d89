//! Saves a simulation and restores it, bit for bit.
//!
//! Random choices are functions of the seed, the round and the client, so that a simulation between
//! two rounds is its parameters, the states of the server and of clients, and where it is. States of
//! clients that have a file of their own stay there: the archive has the mark to go back to.

use std::collections::HashMap;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_passes::lowering::Frontend;
use fedround_store::{Archive, ArchiveError, StoreMark, TensorBytes};
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::fingerprint::Fingerprint;
use crate::checkpoint_error::CheckpointError;
use crate::state::{ClientState, Flight, InFlight, Key};
use crate::tensor_bytes::{from_bytes, to_bytes};

/// Of the parts below.
const VERSION: u32 = 1;

const VERSION_PART: &str = "simulation/version";
const FINGERPRINT: &str = "simulation/fingerprint";
const POSITION: &str = "simulation/position";
const PARAMETERS: &str = "simulation/parameters";
pub(super) const SERVER: &str = "simulation/server";
const CLIENTS: &str = "simulation/clients";
/// Clients in flight; only where there are any.
const IN_FLIGHT: &str = "simulation/in-flight";
/// What parties are to be told; only of a coordinator.
const PARTIES: &str = "simulation/parties";

/// Where a simulation is.
#[derive(Deserialize, Serialize)]
struct Position {
    round: usize,
    left_out: usize,
    /// Clients in one graph, on each device: out of memory, there may be fewer than were chosen, and
    /// sums depend on it.
    groups: Vec<usize>,
}

/// A state of a client, by its client and name.
pub(crate) type SavedState = (usize, String, Vec<TensorBytes>);

/// A state by its name.
pub(super) type ServerStates = Vec<(String, Vec<TensorBytes>)>;

/// The clients in flight: the clock, each flight's client, version and arrival, and what was dispatched. Times
/// are the bits of seconds.
#[derive(Deserialize, Serialize)]
struct SavedInFlight {
    now: u64,
    flights: Vec<(usize, usize, u64)>,
    sent: Vec<((usize, usize), Vec<TensorBytes>)>,
}

fn restored_in_flight(
    saved: SavedInFlight,
    device: &DispatchDevice,
) -> Result<InFlight, CheckpointError> {
    let flights = saved.flights.into_iter();
    let flights = flights.map(|(client, version, arrives)| Flight {
        client,
        version,
        arrives: f64::from_bits(arrives),
    });
    let sent = saved.sent.into_iter();
    let sent = sent.map(|(key, tensors)| Ok((key, restored(IN_FLIGHT, &tensors, device)?)));
    Ok(InFlight {
        now: f64::from_bits(saved.now),
        flights: flights.collect(),
        sent: sent.collect::<Result<_, CheckpointError>>()?,
    })
}

/// The states of clients, and those that the server keeps for them.
#[derive(Deserialize, Serialize)]
enum ClientStates {
    /// In order of their keys, so that equal states are equal bytes.
    Here(Vec<(Key, Vec<TensorBytes>)>),
    /// In the file of [`Simulation::set_client_store`].
    InFile(StoreMark),
}

impl Simulation {
    /// Everything that the next rounds depend on, as parts of an archive, which can be
    /// [written](Archive::write) to a file. A simulation of the same program, data and seed that
    /// [restores](Self::restore) it goes on with the same bits. The devices' memory is copied, not
    /// changed.
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
            left_out: self.left_out,
            groups: self.sites().map(|site| site.group).collect(),
        };
        archive.insert(POSITION, &position)?;
        archive.insert(PARAMETERS, &saved("parameters", &self.params)?)?;
        let server = self.state.server.iter();
        let server = server.map(|(name, tensors)| Ok((name.clone(), saved(name, tensors)?)));
        let mut server = server.collect::<Result<ServerStates, CheckpointError>>()?;
        server.sort_by(|a, b| a.0.cmp(&b.0));
        archive.insert(SERVER, &server)?;
        archive.insert(CLIENTS, &self.save_clients()?)?;
        if let Some(in_flight) = self.save_in_flight()? {
            archive.insert(IN_FLIGHT, &in_flight)?;
        }
        let committed = self.committed();
        if !committed.is_empty() {
            archive.insert(PARTIES, &committed)?;
        }
        Ok(archive)
    }

    /// The clients in flight, if rounds have let any begin.
    fn save_in_flight(&self) -> Result<Option<SavedInFlight>, CheckpointError> {
        let InFlight { now, flights, sent } = &self.state.in_flight;
        if flights.is_empty() && sent.is_empty() && *now == 0.0 {
            return Ok(None);
        }
        let flights = flights.iter();
        let flights = flights.map(|f| (f.client, f.version, f.arrives.to_bits()));
        let sent = sent.iter();
        let sent = sent.map(|(key, tensors)| Ok((*key, saved("dispatched", tensors)?)));
        Ok(Some(SavedInFlight {
            now: now.to_bits(),
            flights: flights.collect(),
            sent: sent.collect::<Result<_, CheckpointError>>()?,
        }))
    }

    /// Goes back, or forward, to where another simulation was [saved](Self::save).
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Other`] if that one had another program, other data, another seed or other
    /// devices; an error of the archive if it holds no simulation. The simulation is then as it was.
    pub fn restore(&mut self, archive: &Archive) -> Result<(), CheckpointError> {
        check_version(archive)?;
        Fingerprint::of(self)?.check(&archive.get(FINGERPRINT)?)?;
        let position: Position = archive.get(POSITION)?;
        let device = self.program().device();
        let params: Vec<TensorBytes> = archive.get(PARAMETERS)?;
        let types = self.program().model().parameters().iter();
        let shapes = types.map(|(_, ty)| &ty.shape[..]);
        if !shapes.eq(params.iter().map(|t| &t.shape[..])) {
            return Err(content(PARAMETERS).into());
        }
        let params = restored(PARAMETERS, &params, device)?;
        let mut server = HashMap::new();
        for (name, tensors) in archive.get::<ServerStates>(SERVER)? {
            server.insert(name, restored(SERVER, &tensors, device)?);
        }
        let committed = match archive.get(PARTIES) {
            Err(ArchiveError::Missing { .. }) => vec![],
            committed => committed?,
        };
        let in_flight = match archive.get(IN_FLIGHT) {
            Err(ArchiveError::Missing { .. }) => InFlight::default(),
            saved => restored_in_flight(saved?, device)?,
        };
        self.restore_clients(archive.get(CLIENTS)?, position.round)?;
        self.state.in_flight = in_flight;
        self.restore_committed(committed);
        (self.params, self.state.server) = (params, server);
        (self.round, self.left_out) = (position.round, position.left_out);
        for (site, group) in self.sites_mut().zip(position.groups) {
            site.group = group;
        }
        Ok(())
    }

    /// The states that clients set in the round in progress, in order.
    pub(crate) fn save_pending(&self) -> Result<Vec<SavedState>, CheckpointError> {
        let states = self.state.clients.fresh();
        let states = states
            .map(|((client, name), tensors)| Ok((*client, name.clone(), saved(name, tensors)?)));
        let mut states = states.collect::<Result<Vec<SavedState>, CheckpointError>>()?;
        states.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        Ok(states)
    }

    /// Sets states in the round in progress.
    pub(crate) fn restore_pending(&mut self, states: Vec<SavedState>) -> Result<(), ArchiveError> {
        let device = self.program().device();
        let states = states.into_iter().map(|(client, name, tensors)| {
            let tensors = restored(CLIENTS, &tensors, device)?;
            Ok(((client, name), tensors))
        });
        let states = states.collect::<Result<Vec<ClientState>, ArchiveError>>()?;
        self.set_client_states(states);
        Ok(())
    }

    fn save_clients(&self) -> Result<ClientStates, CheckpointError> {
        let states = self.state.of_clients();
        if let Some(mark) = states.checkpoint(self.round)? {
            return Ok(ClientStates::InFile(mark));
        }
        let all = states.all()?.into_iter();
        let all = all.map(|(key, tensors)| {
            let bytes = saved(&key.name, &tensors)?;
            Ok((key, bytes))
        });
        Ok(ClientStates::Here(
            all.collect::<Result<_, CheckpointError>>()?,
        ))
    }

    /// Replaces the states of all clients by those after so many rounds, or none of them.
    fn restore_clients(
        &mut self,
        saved: ClientStates,
        rounds: usize,
    ) -> Result<(), CheckpointError> {
        let states = self.state.of_clients();
        match saved {
            ClientStates::InFile(mark) => states.restore(Some(&mark))?,
            ClientStates::Here(saved) => {
                let device = self.program().device();
                let tensors = saved
                    .into_iter()
                    .map(|(key, tensors)| Ok((key, restored(CLIENTS, &tensors, device)?)));
                let tensors = tensors.collect::<Result<_, ArchiveError>>()?;
                states.replace(tensors, rounds)?;
            }
        }
        Ok(())
    }
}

/// Fails for a checkpoint of another version.
pub(super) fn check_version(archive: &Archive) -> Result<(), CheckpointError> {
    let (found, newest) = (archive.get(VERSION_PART)?, VERSION);
    match found == newest {
        true => Ok(()),
        false => Err(CheckpointError::Version { found, newest }),
    }
}

fn saved(name: &str, tensors: &[DispatchTensor]) -> Result<Vec<TensorBytes>, CheckpointError> {
    to_bytes(tensors)?.ok_or_else(|| CheckpointError::Element {
        name: name.to_owned(),
    })
}

pub(super) fn restored(
    part: &str,
    tensors: &[TensorBytes],
    device: &DispatchDevice,
) -> Result<Vec<DispatchTensor>, ArchiveError> {
    let tensors = tensors.iter().map(|bytes| from_bytes(bytes, device));
    tensors.collect::<Option<_>>().ok_or_else(|| content(part))
}

fn content(part: &str) -> ArchiveError {
    ArchiveError::Content {
        part: part.to_owned(),
        message: "the shapes of its tensors are not those of the program".to_owned(),
    }
}
