//! The coordinator's side: runs regions at parties, by requests to their hosts.

mod committed;
mod evaluation;
mod outcome_order;
mod replies;
mod requests;
mod settle;
mod sums;
mod unchanged_leaves;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fedround_exec::Program;
use fedround_exec::device::without_gpu_access;
use fedround_ir::fed::Value;
use fedround_passes::parties::Region;

use super::message::{Attempt, Committed, Entry};
use super::payload::Payload;
use super::reply_types::ReplyTypes;
use super::table::RegionTable;
use super::transport::{HostId, Parties, PartyError};
use crate::error::RunError;
use crate::regions::{ClientRunner, LostClients, MapJob, OutcomeSink};

use outcome_order::OutcomeOrder;

pub(crate) use evaluation::{EvaluateAtParties, ServerModel};
pub use evaluation::{PartyScore, PartyScores};

/// Runs regions at parties, and records what each of their hosts has.
pub(crate) struct Coordinator {
    /// The transport.
    parties: Box<dyn Parties>,
    table: RegionTable,
    types: ReplyTypes,
    /// The regions of the program that makes personal models; `None` if all clients use the global model.
    personal_table: Option<RegionTable>,
    /// The hash of the program.
    graph_hash: String,
    seed: u64,
    /// Whether hosts send sums over their clients, where the server needs only the sums.
    sums: bool,
    /// The present attempt of a round.
    attempt: Attempt,
    /// The phase of the present round.
    phase: usize,
    /// The number of the present round in the schedule of phases.
    scheduled: usize,
    /// The number of clients in the present round.
    clients: usize,
    /// The largest number of clients in one graph.
    max_group: usize,
    /// The host of each client that is online.
    hosts: HashMap<usize, HostId>,
    /// The values that were sent in this attempt, and that hosts keep for later regions.
    delivered: HashSet<(Receiver, Value)>,
    /// The hosts that replied in this attempt. Only these know for certain which attempt was committed before.
    replied: BTreeSet<HostId>,
    /// The clients that were lost in this attempt.
    lost: BTreeSet<usize>,
    /// The lost clients whose hosts did not reply before the deadline.
    late: BTreeSet<usize>,
    /// The last committed attempt of each host.
    committed: BTreeMap<HostId, Committed>,
    /// The clients that were lost since the round began, and why.
    failures: Vec<(Vec<usize>, PartyError)>,
}

/// Whom a value was sent to: a host if all clients receive the same, and else a client.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Receiver {
    Host(HostId),
    Entry(Entry),
}

/// A region that runs at parties for the clients of a map.
struct RegionCall<'a> {
    /// The index of the region in its phase.
    index: usize,
    region: &'a Region,
    job: &'a MapJob<'a>,
    /// The server's model, if the region makes personal models of it that are to be evaluated; `None` in training.
    server: Option<&'a ServerModel>,
}

impl RegionCall<'_> {
    /// The entry of the `i`-th client of the cohort.
    fn entry(&self, i: usize) -> Entry {
        let (client, turn) = (self.job.ids[i], self.job.turns[i]);
        Entry { client, turn }
    }
}

impl Coordinator {
    /// Creates a coordinator. Its `session` must be larger than that of every earlier coordinator of the federation.
    ///
    /// # Errors
    ///
    /// The program cannot run between a server and parties.
    pub fn new(
        parties: Box<dyn Parties>,
        (program, personal): (&Program, Option<&Program>),
        (graph_hash, seed, session): (String, u64, u64),
    ) -> Result<Self, RunError> {
        Ok(Self {
            parties,
            table: RegionTable::of(program)?,
            types: ReplyTypes::of(program)?,
            personal_table: personal.map(RegionTable::of).transpose()?,
            graph_hash,
            seed,
            sums: false,
            attempt: Attempt {
                session,
                number: 0,
                round: 0,
            },
            phase: 0,
            scheduled: 0,
            clients: 0,
            max_group: 1,
            hosts: HashMap::new(),
            delivered: HashSet::new(),
            replied: BTreeSet::new(),
            lost: BTreeSet::new(),
            late: BTreeSet::new(),
            committed: BTreeMap::new(),
            failures: vec![],
        })
    }

    /// Chooses whether hosts send sums over their clients, where the server needs only the sums.
    pub fn set_sums(&mut self, sums: bool) {
        self.sums = sums;
    }

    /// Begins an attempt of a round, with the parties that are online.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn begin(
        &mut self,
        round: usize,
        (phase, scheduled): (usize, usize),
        (clients, max_group): (usize, usize),
    ) -> Result<(), RunError> {
        if self.attempt.round != round {
            self.failures.clear();
        }
        (self.attempt.round, self.attempt.number) = (round, self.attempt.number + 1);
        (self.phase, self.scheduled) = (phase, scheduled);
        (self.clients, self.max_group) = (clients, max_group);
        self.delivered.clear();
        self.replied.clear();
        self.lost.clear();
        self.late.clear();
        self.hosts.clear();
        // While it waits for the network, another thread may capture.
        for host in without_gpu_access(|| self.parties.online())? {
            let clients = host.clients.into_iter();
            self.hosts.extend(clients.map(|client| (client, host.id)));
        }
        Ok(())
    }

    /// Notes that the attempt that has begun tells noise.
    pub fn before_noise(&mut self) -> Result<(), RunError> {
        let round = self.attempt.round;
        let noted = self.parties.before_noise(round);
        noted.map_err(|why| RunError::NoiseNotNoted { round, why })
    }

    /// The clients that were lost in the last round, and why.
    pub fn failures(&self) -> &[(Vec<usize>, PartyError)] {
        &self.failures
    }

    /// Marks clients of a host as lost, by their positions in the cohort, and tells the transport why.
    fn leave_out(
        &mut self,
        job: &MapJob<'_>,
        (host, positions): (HostId, &[usize]),
        why: PartyError,
    ) {
        self.parties.left_out(host, &why);
        self.lose(job, positions, why);
    }

    /// Marks clients as lost, by their positions in the cohort.
    fn lose(&mut self, job: &MapJob<'_>, positions: &[usize], why: PartyError) {
        let clients: BTreeSet<usize> = positions.iter().map(|&i| job.ids[i]).collect();
        self.lost.extend(&clients);
        if why == PartyError::Expired {
            self.late.extend(&clients);
        }
        self.failures.push((clients.into_iter().collect(), why));
    }

    /// The positions of the cohort's clients, grouped by host. Clients without an online host are lost.
    fn by_host(&mut self, job: &MapJob<'_>) -> Vec<(HostId, Vec<usize>)> {
        let mut all: Vec<(HostId, Vec<usize>)> = vec![];
        let mut places: HashMap<HostId, usize> = HashMap::new();
        for (i, client) in job.ids.iter().enumerate() {
            let Some(&host) = self.hosts.get(client) else {
                self.lose(job, &[i], PartyError::Offline);
                continue;
            };
            let place = *places.entry(host).or_insert(all.len());
            match all.get_mut(place) {
                Some((_, positions)) => positions.push(i),
                None => all.push((host, vec![i])),
            }
        }
        all
    }

    /// Sends a request to each host of the clients, and gives replies to `read_reply` as they arrive. The clients of
    /// a host whose reply causes an error are lost.
    fn send_requests(
        &mut self,
        call: &RegionCall<'_>,
        mut read_reply: impl FnMut(&Self, &[usize], &Payload) -> Result<(), PartyError>,
    ) -> Result<(), RunError> {
        let mut shared = BTreeMap::new();
        let mut open = HashMap::new();
        for (host, positions) in self.by_host(call.job) {
            let request = self.request(call, host, &positions, &mut shared)?;
            match without_gpu_access(|| self.parties.send(host, &request)) {
                Ok(ticket) => _ = open.insert(ticket, (host, positions)),
                Err(why) => self.leave_out(call.job, (host, &positions), why),
            }
        }
        while !open.is_empty() {
            for (ticket, reply) in without_gpu_access(|| self.parties.poll())? {
                // Other tickets belong to an earlier attempt, which ended before all replies arrived.
                let Some((host, positions)) = open.remove(&ticket) else {
                    continue;
                };
                match reply.and_then(|reply| read_reply(self, &positions, &reply)) {
                    Ok(()) => _ = self.replied.insert(host),
                    Err(why) => self.leave_out(call.job, (host, &positions), why),
                }
            }
        }
        Ok(())
    }

    /// The clients of a map that were lost.
    fn lost_clients(&self, job: &MapJob<'_>) -> LostClients {
        let own = job.ids.iter().filter(|client| self.lost.contains(client));
        let (late, failed) = own.partition(|client| self.late.contains(client));
        LostClients { failed, late }
    }
}

impl ClientRunner for Coordinator {
    fn run(&mut self, job: &MapJob<'_>, sink: OutcomeSink<'_>) -> Result<LostClients, RunError> {
        let (index, region) = self.table.of_job(self.phase, job)?;
        let call = RegionCall {
            index,
            region: &region.clone(),
            job,
            server: None,
        };
        let mut ordered = OutcomeOrder::new(job, sink);
        self.send_requests(&call, |coordinator, positions, reply| {
            let outcomes = coordinator.outcomes(&call, positions, reply)?;
            ordered.add(positions, outcomes);
            ordered.advance(&coordinator.lost);
            Ok(())
        })?;
        ordered.advance(&self.lost);
        ordered.finish()?;
        Ok(self.lost_clients(job))
    }

    fn is_available(&self, client: usize) -> bool {
        self.hosts.contains_key(&client) && !self.lost.contains(&client)
    }

    fn forget_delivered(&mut self, values: &[Value]) {
        self.delivered.retain(|(_, value)| !values.contains(value));
    }
}
