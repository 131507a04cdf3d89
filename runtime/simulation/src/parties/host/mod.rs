//! The party's side: runs regions for the clients of a host, and keeps the values that stay there.

mod checkpoint;
mod evaluate;
mod run;
mod sums;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fedround_ir::fed::Value;

use super::error::{ContentError, PayloadError};
use super::message::{Attempt, Committed, Entry, Reply, Request, Run, Task};
use super::payload::Payload;
use super::table::Table;
use crate::error::RunError;
use crate::simulation::Simulation;
use crate::value::RtVal;

pub use evaluate::HeldOut;

/// A process that hosts clients: it has their examples and their states, and answers a coordinator's
/// requests.
///
/// It is made of a [`Simulation`] of the same algorithm, model and seed as the coordinator's, whose dataset
/// has the examples of the host's clients. Clients keep their numbers: the lists of examples of clients that
/// are elsewhere may be empty.
///
/// ```text
/// coordinator   Simulation::new(program, …)?.with_parties(transport, session)?
/// party         PartyHost::new(simulation, clients)?, then bytes = host.answer(&bytes)
/// ```
pub struct PartyHost {
    simulation: Simulation,
    clients: Vec<usize>,
    graph: String,
    table: Table,
    /// Of the program that makes clients' own models, where they have some.
    personal: Option<Table>,
    /// On which they are evaluated.
    held_out: BTreeMap<usize, HeldOut>,
    /// The attempt whose values are held, and whose states are set and not yet kept.
    attempt: Option<Attempt>,
    /// The maps of the attempt that ran here, by their numbers.
    ran: BTreeSet<usize>,
    /// What clients keep for later regions of the attempt.
    held: HashMap<(Entry, Value), RtVal>,
    /// What all of them were sent alike.
    shared: HashMap<Value, RtVal>,
    /// The last request that ran and its reply, in case it arrives twice.
    last: Option<(Run, Payload)>,
}

/// Why a host cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A request cannot be read.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The values of a request are not what the region receives.
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
        /// The coordinator's.
        found: u64,
    },
    /// A client is not at this host.
    #[error("client {client} is not at this host")]
    NotHere {
        /// The client.
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
    /// A request is of an attempt that ended.
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
    /// The party lost a value that an earlier region kept, because it restarted.
    #[error("`{name}`, kept by an earlier region of this round, was lost when the host restarted")]
    NotHeld {
        /// The value.
        name: String,
    },
    /// The states of the host's clients are of another round than the coordinator kept last.
    #[error(
        "expected clients' states of round {expected}, found those of round {found}: states were lost, or are of another \
         run; to begin anew with this party, stop it and delete {} in its state folder",
        files(*expected)
    )]
    States {
        /// The last round of this host that the coordinator kept; 0 of none.
        expected: usize,
        /// The last round that was kept here.
        found: usize,
    },
    /// The region could not run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl PartyHost {
    /// A host of these clients.
    ///
    /// # Errors
    ///
    /// The program cannot run between a server and parties, or there is no such client.
    pub fn new(simulation: Simulation, mut clients: Vec<usize>) -> Result<Self, HostError> {
        clients.sort_unstable();
        clients.dedup();
        let known = simulation.dataset().client_indices.len();
        if let Some(&client) = clients.iter().find(|client| **client >= known) {
            return Err(HostError::NotHere { client });
        }
        let table = Table::of(simulation.program()).map_err(RunError::from)?;
        let personal = simulation.personal_program().map(Table::of);
        let personal = personal.transpose().map_err(RunError::from)?;
        Ok(Self {
            graph: simulation.graph_hash()?,
            table,
            personal,
            held_out: BTreeMap::new(),
            simulation,
            clients,
            attempt: None,
            ran: BTreeSet::new(),
            held: HashMap::new(),
            shared: HashMap::new(),
            last: None,
        })
    }

    /// Adds examples that clients do not train on: with them the coordinator can have the clients' own models
    /// evaluated.
    #[must_use]
    pub fn with_held_out(mut self, examples: BTreeMap<usize, HeldOut>) -> Self {
        self.held_out = examples;
        self
    }

    /// The host's clients, in ascending order.
    pub fn clients(&self) -> &[usize] {
        &self.clients
    }

    /// The hash of the program that this host takes part in.
    pub fn graph_hash(&self) -> &str {
        &self.graph
    }

    /// Whether clients keep states from one round to the next. A host of others has nothing to save.
    pub fn keeps_states(&self) -> bool {
        self.table.sets_states()
    }

    /// The clients' examples and states, as of the last round that the coordinator kept.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Answers the bytes of a request with those of a reply. A request that cannot be carried out is
    /// answered with the reason.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let reply = match Payload::decode(request) {
            Ok(request) => self.answer_payload(&request),
            Err(error) => failure(&error.into()),
        };
        reply
            .encode()
            .or_else(|error| failure(&error.into()).encode())
            .unwrap_or_default()
    }

    /// As [`answer`](Self::answer), for transports that carry tensors one by one.
    pub fn answer_payload(&mut self, request: &Payload) -> Payload {
        self.reply(request).unwrap_or_else(|error| failure(&error))
    }

    fn reply(&mut self, payload: &Payload) -> Result<Payload, HostError> {
        let request: Request = payload.read()?;
        if request.graph != self.graph {
            let (expected, found) = (self.graph.clone(), request.graph);
            return Err(HostError::Graph { expected, found });
        }
        if request.seed != self.simulation.seed() {
            let (expected, found) = (self.simulation.seed(), request.seed);
            return Err(HostError::Seed { expected, found });
        }
        let committed = request.committed.as_ref();
        if let Task::Evaluate(run, checksums) = &request.task {
            self.check_round(self.round_with(committed), committed)?;
            return self.evaluate((run, checksums), committed, payload);
        }
        if let Some(committed) = committed {
            self.commit(committed);
        }
        self.check_round(self.simulation.round(), committed)?;
        let Task::Run(run) = request.task else {
            return Ok(Payload::new(&Reply::Done(None))?);
        };
        match &self.last {
            Some((known, reply)) if *known == run => Ok(reply.clone()),
            _ => {
                let reply = self.run(&run, payload)?;
                self.last = Some((run, reply.clone()));
                Ok(reply)
            }
        }
    }

    /// Keeps the states of an attempt, if it is the one in progress here. Each is kept once.
    fn commit(&mut self, committed: &Committed) {
        if self.attempt != Some(committed.attempt) {
            return;
        }
        self.simulation
            .keep_round(committed.attempt.round, &committed.without);
        self.end_attempt();
    }

    /// The last round that set states here, once these are kept.
    fn round_with(&self, committed: Option<&Committed>) -> usize {
        let pending = committed.filter(|committed| self.attempt == Some(committed.attempt));
        pending.map_or(self.simulation.round(), |committed| committed.attempt.round)
    }

    /// Fails if the last round that set states here is another one than the coordinator kept: they were
    /// lost, or belong to another run.
    fn check_round(&self, found: usize, committed: Option<&Committed>) -> Result<(), HostError> {
        let expected = committed.map_or(0, |committed| committed.attempt.round);
        match self.table.sets_states() && expected != found {
            true => Err(HostError::States { expected, found }),
            false => Ok(()),
        }
    }

    /// Forgets what the attempt in progress left here.
    fn end_attempt(&mut self) {
        self.attempt = None;
        self.last = None;
        self.ran.clear();
        self.held.clear();
        self.shared.clear();
    }

    /// Begins an attempt, unless it is the one in progress.
    fn begin(&mut self, attempt: Attempt) -> Result<(), HostError> {
        match self.attempt {
            Some(known) if known == attempt => return Ok(()),
            Some(known) if attempt < known => {
                let round = attempt.round;
                return Err(HostError::Stale { round });
            }
            _ => {}
        }
        self.simulation.forget_round();
        self.end_attempt();
        self.attempt = Some(attempt);
        Ok(())
    }
}

/// The files without which a party has no states. Of one whose states a coordinator expects, the key goes,
/// too: with another key it is another party.
fn files(expected: usize) -> &'static str {
    match expected {
        0 => "`clients.ckpt`",
        _ => "`clients.ckpt` and `key.pem`",
    }
}

/// A reply that says why there is none.
fn failure(error: &HostError) -> Payload {
    // A text can always be written.
    Payload::new(&Reply::Failed(error.to_string())).unwrap_or_default()
}
