//! The party's side: runs regions for the clients of a host, and keeps their states and the values that later regions
//! need.

mod checkpoint;
mod evaluate;
mod failure;
mod run;
mod sums;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fedround_exec::device::with_gpu_access;
use fedround_ir::fed::Value;

use super::error::{ContentError, PayloadError};
use super::message::{Attempt, Committed, Entry, Reply, Request, Run, Task};
use super::payload::Payload;
use super::table::RegionTable;
use crate::error::RunError;
use crate::simulation::Simulation;
use crate::value::RuntimeValue;

use failure::files;

pub use evaluate::HeldOut;

/// A process that hosts clients: it has their examples and states, and answers a coordinator's requests.
///
/// It contains a [`Simulation`] of the same algorithm, model and seed as the coordinator's, whose dataset has the
/// examples of the host's clients. Clients have the same numbers as at the coordinator; clients of other hosts may
/// have empty lists of examples.
///
/// ```text
/// coordinator   Simulation::new(program, …)?.with_parties(transport, session)?
/// party         PartyHost::new(simulation, clients)?, then bytes = host.answer(&bytes)
/// ```
pub struct PartyHost {
    simulation: Simulation,
    /// The numbers of the host's clients, in ascending order.
    clients: Vec<usize>,
    /// The hash of the program.
    graph_hash: String,
    table: RegionTable,
    /// The regions of the program that makes personal models; `None` if all clients use the global model.
    personal_table: Option<RegionTable>,
    /// The examples on which clients' models are evaluated, by client.
    held_out: BTreeMap<usize, HeldOut>,
    /// The attempt in progress: its states are set, and neither committed nor discarded. `None` between attempts.
    attempt: Option<Attempt>,
    /// The numbers of the maps of the attempt that ran here.
    completed_maps: BTreeSet<usize>,
    /// Values that later regions of the attempt read: of each client, or, without an entry, of all.
    held: HashMap<(Option<Entry>, Value), RuntimeValue>,
    /// The last request of the attempt and its reply, in case the request arrives twice.
    last_reply: Option<(Run, Payload)>,
    /// Why the last request could not be carried out; `None` if it was.
    last_failure: Option<String>,
}

/// Why a host cannot do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A request cannot be read.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The values of a request do not match the region's inputs.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The coordinator runs another program.
    #[error(
        "expected a request of the program {expected}, found one of {found}; compile the same algorithm with the same \
         settings and model on both sides"
    )]
    Graph {
        /// The hash of this host's program.
        expected: String,
        /// The hash in the request.
        found: String,
    },
    /// The coordinator has another seed.
    #[error("expected a request of seed {expected}, found one of seed {found}")]
    Seed {
        /// This host's seed.
        expected: u64,
        /// The coordinator's seed.
        found: u64,
    },
    /// A client is not at this host.
    #[error("client {client} is not at this host")]
    NotHere {
        /// The client's number.
        client: usize,
    },
    /// The program has no such region, or a region has another number of inputs.
    #[error("round {round} has no region {region} with this number of inputs")]
    NoRegion {
        /// The region's index.
        region: usize,
        /// The round.
        round: usize,
    },
    /// A request belongs to an attempt that ended.
    #[error("the request is of an earlier attempt of round {round}, which ended")]
    Stale {
        /// The round.
        round: usize,
    },
    /// A region already ran, and its reply is no longer stored.
    #[error(
        "the region already ran in this attempt of round {round}, and its reply is no longer stored"
    )]
    Again {
        /// The round.
        round: usize,
    },
    /// The host lost a value that an earlier region kept, because it restarted.
    #[error("`{name}`, kept by an earlier region of this round, was lost when the host restarted")]
    NotHeld {
        /// The value.
        name: String,
    },
    /// The states of the host's clients are of another round than the coordinator committed last.
    #[error(
        "expected clients' states of round {expected}, found those of round {found}: states were lost, or are of another \
         run; to begin anew with this party, stop it and delete {} in its state folder",
        files(*expected)
    )]
    States {
        /// The last committed round in which this host took part; 0 if there is none.
        expected: usize,
        /// The last round whose states were committed here.
        found: usize,
    },
    /// The region could not run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl PartyHost {
    /// Creates a host of these clients.
    ///
    /// # Errors
    ///
    /// The program cannot run between a server and parties, or a client does not exist.
    pub fn new(simulation: Simulation, mut clients: Vec<usize>) -> Result<Self, HostError> {
        clients.sort_unstable();
        clients.dedup();
        let known = simulation.dataset().client_indices.len();
        if let Some(&client) = clients.iter().find(|client| **client >= known) {
            return Err(HostError::NotHere { client });
        }
        let table = RegionTable::of(simulation.program()).map_err(RunError::from)?;
        let personal_table = simulation.personal_program().map(RegionTable::of);
        let personal_table = personal_table.transpose().map_err(RunError::from)?;
        Ok(Self {
            graph_hash: simulation.graph_hash()?,
            table,
            personal_table,
            held_out: BTreeMap::new(),
            simulation,
            clients,
            attempt: None,
            completed_maps: BTreeSet::new(),
            held: HashMap::new(),
            last_reply: None,
            last_failure: None,
        })
    }

    /// The host's clients, in ascending order.
    pub fn clients(&self) -> &[usize] {
        &self.clients
    }

    /// The hash of this host's program.
    pub fn graph_hash(&self) -> &str {
        &self.graph_hash
    }

    /// Whether clients keep states from one round to the next. Otherwise the host has nothing to save.
    pub fn keeps_states(&self) -> bool {
        self.table.sets_states()
    }

    /// The simulation with the clients' examples and states, as of the last round that the coordinator committed.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Carries out a request, and returns the reply; both are bytes. If that is not possible, the reply has the reason.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let reply = match Payload::decode(request) {
            Ok(request) => self.answer_payload(&request),
            Err(error) => self.fail(&error.into()),
        };
        reply
            .encode()
            .or_else(|error| self.fail(&error.into()).encode())
            .unwrap_or_default()
    }

    /// As [`answer`](Self::answer), for transports that carry tensors one by one.
    pub fn answer_payload(&mut self, request: &Payload) -> Payload {
        self.last_failure = None;
        with_gpu_access(|| self.reply(request)).unwrap_or_else(|error| self.fail(&error))
    }

    /// Checks that a request fits this host, and carries it out.
    fn reply(&mut self, payload: &Payload) -> Result<Payload, HostError> {
        let request: Request = payload.read()?;
        if request.graph != self.graph_hash {
            let (expected, found) = (self.graph_hash.clone(), request.graph);
            return Err(HostError::Graph { expected, found });
        }
        if request.seed != self.simulation.seed() {
            let (expected, found) = (self.simulation.seed(), request.seed);
            return Err(HostError::Seed { expected, found });
        }
        let committed = request.committed.as_ref();
        if let Task::Evaluate(run, checksums) = &request.task {
            self.check_round(self.round_after(committed), committed)?;
            return self.evaluate((run, checksums), committed, payload);
        }
        if let Some(committed) = committed {
            self.commit(committed);
        }
        self.check_round(self.simulation.round(), committed)?;
        let Task::Run(run) = request.task else {
            return Ok(Payload::new(&Reply::Done(None))?);
        };
        match &self.last_reply {
            Some((known, reply)) if *known == run => Ok(reply.clone()),
            _ => {
                let reply = self.run(&run, payload)?;
                self.last_reply = Some((run, reply.clone()));
                Ok(reply)
            }
        }
    }

    /// Commits the states of an attempt, if it is the one in progress here. Each attempt is committed once.
    fn commit(&mut self, committed: &Committed) {
        if self.attempt != Some(committed.attempt) {
            return;
        }
        self.simulation
            .commit_round(committed.attempt.round, &committed.without);
        self.end_attempt();
    }

    /// The round whose states are the last ones here, once `committed` is committed.
    fn round_after(&self, committed: Option<&Committed>) -> usize {
        let pending = committed.filter(|committed| self.attempt == Some(committed.attempt));
        pending.map_or(self.simulation.round(), |committed| committed.attempt.round)
    }

    /// Fails if the states here are of another round than the coordinator committed last. They were lost then, or
    /// belong to another run.
    fn check_round(&self, found: usize, committed: Option<&Committed>) -> Result<(), HostError> {
        let expected = committed.map_or(0, |committed| committed.attempt.round);
        match self.table.sets_states() && expected != found {
            true => Err(HostError::States { expected, found }),
            false => Ok(()),
        }
    }

    /// Ends the attempt in progress, and drops its values.
    fn end_attempt(&mut self) {
        self.attempt = None;
        self.last_reply = None;
        self.completed_maps.clear();
        self.held.clear();
    }

    /// Begins an attempt, unless it is in progress already. Discards the states of an earlier one.
    fn begin(&mut self, attempt: Attempt) -> Result<(), HostError> {
        match self.attempt {
            Some(known) if known == attempt => return Ok(()),
            Some(known) if attempt < known => {
                let round = attempt.round;
                return Err(HostError::Stale { round });
            }
            _ => {}
        }
        // Noise depends on the round and the secret. Two attempts of a round may ask for two values, whose difference
        // would have no noise if the secret were the same.
        self.simulation.renew_secret()?;
        self.simulation.discard_round();
        self.end_attempt();
        self.attempt = Some(attempt);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fedround_algorithms::FedAvg;
    use fedround_random::{Purpose, noise};

    use super::*;
    use crate::testing::simulation;

    #[test]
    fn each_attempt_of_a_round_has_noise_of_its_own() {
        let simulation = simulation(&FedAvg::default(), &[4], 1);
        let mut host = PartyHost::new(simulation.with_system_noise().unwrap(), vec![0]).unwrap();
        let mut noise_of = |session, number| {
            let attempt = Attempt {
                session,
                number,
                round: 3,
            };
            host.begin(attempt).unwrap();
            let absent = BTreeSet::new();
            let contexts = host.simulation.contexts(3, 1, &absent);
            let mut values = [0.0; 4];
            let key = contexts[0].key(Purpose::Init);
            noise::gaussian(&mut values, &mut noise::words(key, contexts[0].secret));
            values
        };
        let first = noise_of(1, 1);
        assert_eq!(noise_of(1, 1), first, "the same attempt");
        let second = noise_of(1, 2);
        assert_ne!(second, first);
        assert_ne!(noise_of(2, 1), second, "another coordinator");
    }
}
