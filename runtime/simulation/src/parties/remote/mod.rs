//! The coordinator's side: runs regions at parties.

mod evaluation;
mod in_order;
mod replies;
mod requests;
mod returned;
mod settle;
mod sums;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fedround_exec::Program;
use fedround_ir::fed::Value;
use fedround_passes::parties::Region;

use super::message::{Attempt, Committed, Entry};
use super::payload::Payload;
use super::reply_types::ReplyTypes;
use super::table::Table;
use super::transport::{HostId, Parties, PartyError};
use crate::error::RunError;
use crate::regions::{Job, Lost, RunRegion, Take};

use in_order::InOrder;

pub(crate) use evaluation::{EvaluateAtParties, ServerModel};
pub use evaluation::{PartyScore, PartyScores};

/// Parties, and what a coordinator knows of them.
pub(crate) struct Remote {
    parties: Box<dyn Parties>,
    table: Table,
    types: ReplyTypes,
    /// Of the program that makes clients' own models, where they have some.
    personal: Option<Table>,
    graph: String,
    seed: u64,
    /// Whether hosts sum what can be summed.
    sums: bool,
    attempt: Attempt,
    /// Of the present attempt: the phase, the round where no phase had ended early, the number of clients, and
    /// how many of them run in one graph at most.
    phase: usize,
    scheduled: usize,
    clients: usize,
    most: usize,
    /// The host of each client that is online.
    hosts: HashMap<usize, HostId>,
    /// What hosts have been sent in this attempt and keep.
    delivered: HashSet<(HostId, Value)>,
    /// The hosts that replied in this attempt, and the clients that were lost. Others may never have been told
    /// which attempt was kept before.
    replied: BTreeSet<HostId>,
    lost: BTreeSet<usize>,
    /// Those of the lost clients whose hosts did not reply in time.
    late: BTreeSet<usize>,
    /// The last attempt of each host that was kept.
    committed: BTreeMap<HostId, Committed>,
    /// Why clients were lost since the round began.
    failures: Vec<(Vec<usize>, PartyError)>,
}

/// A region of the present attempt, and the code that it is.
struct Asked<'a> {
    index: usize,
    region: &'a Region,
    job: &'a Job<'a>,
    /// The server's model, if the region makes clients' models of it that are to be evaluated.
    server: Option<&'a ServerModel>,
}

impl Asked<'_> {
    fn entry(&self, i: usize) -> Entry {
        let (client, turn) = (self.job.ids[i], self.job.turns[i]);
        Entry { client, turn }
    }
}

impl Remote {
    /// `session` is larger than that of every earlier coordinator of the federation.
    ///
    /// # Errors
    ///
    /// The program cannot run between a server and parties.
    pub fn new(
        parties: Box<dyn Parties>,
        (program, personal): (&Program, Option<&Program>),
        (graph, seed, session): (String, u64, u64),
    ) -> Result<Self, RunError> {
        Ok(Self {
            parties,
            table: Table::of(program)?,
            types: ReplyTypes::of(program)?,
            personal: personal.map(Table::of).transpose()?,
            graph,
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
            most: 1,
            hosts: HashMap::new(),
            delivered: HashSet::new(),
            replied: BTreeSet::new(),
            lost: BTreeSet::new(),
            late: BTreeSet::new(),
            committed: BTreeMap::new(),
            failures: vec![],
        })
    }

    /// Chooses whether hosts sum what can be summed.
    pub fn set_sums(&mut self, sums: bool) {
        self.sums = sums;
    }

    /// Begins an attempt of a round, with the parties that are online.
    ///
    /// # Errors
    ///
    /// Nobody can be reached.
    pub fn begin(
        &mut self,
        round: usize,
        (phase, scheduled): (usize, usize),
        (clients, most): (usize, usize),
    ) -> Result<(), RunError> {
        if self.attempt.round != round {
            self.failures.clear();
        }
        (self.attempt.round, self.attempt.number) = (round, self.attempt.number + 1);
        (self.phase, self.scheduled) = (phase, scheduled);
        (self.clients, self.most) = (clients, most);
        self.delivered.clear();
        self.replied.clear();
        self.lost.clear();
        self.late.clear();
        self.hosts.clear();
        for host in self.parties.online()? {
            let clients = host.clients.into_iter();
            self.hosts.extend(clients.map(|client| (client, host.id)));
        }
        Ok(())
    }

    /// Ends an attempt whose results are kept. Hosts are told with their next request.
    pub fn commit(&mut self) {
        let committed = Committed {
            attempt: self.attempt,
            without: self.lost.iter().copied().collect(),
        };
        let replied = std::mem::take(&mut self.replied).into_iter();
        self.committed
            .extend(replied.map(|host| (host, committed.clone())));
    }

    /// Why clients were lost in the last round.
    pub fn failures(&self) -> &[(Vec<usize>, PartyError)] {
        &self.failures
    }

    /// The last attempt of each host that was kept, for a checkpoint.
    pub fn committed(&self) -> Vec<(u64, Committed)> {
        let committed = self.committed.iter();
        committed
            .map(|(host, kept)| (host.0, kept.clone()))
            .collect()
    }

    /// Goes on from a checkpoint.
    pub fn restore(&mut self, committed: Vec<(u64, Committed)>) {
        let committed = committed.into_iter();
        self.committed = committed.map(|(host, kept)| (HostId(host), kept)).collect();
    }

    /// The clients of a host at these places are lost, and the transport is told why.
    fn leave_out(&mut self, job: &Job<'_>, (host, places): (HostId, &[usize]), why: PartyError) {
        self.parties.left_out(host, &why);
        self.lose(job, places, why);
    }

    /// The clients at these places are lost.
    fn lose(&mut self, job: &Job<'_>, places: &[usize], why: PartyError) {
        let clients: BTreeSet<usize> = places.iter().map(|&i| job.ids[i]).collect();
        self.lost.extend(&clients);
        if why == PartyError::Expired {
            self.late.extend(&clients);
        }
        self.failures.push((clients.into_iter().collect(), why));
    }

    /// The places of the cohort's clients, host by host.
    fn by_host(&mut self, job: &Job<'_>) -> Vec<(HostId, Vec<usize>)> {
        let mut all: Vec<(HostId, Vec<usize>)> = vec![];
        for (i, client) in job.ids.iter().enumerate() {
            match self.hosts.get(client) {
                Some(host) => match all.iter_mut().find(|(known, _)| known == host) {
                    Some((_, places)) => places.push(i),
                    None => all.push((*host, vec![i])),
                },
                None => self.lose(job, &[i], PartyError::Offline),
            }
        }
        all
    }
}

impl Remote {
    /// Sends a request to each host of a job's clients, and takes the replies as they come. The clients of a
    /// host whose reply is not taken are lost.
    fn ask(
        &mut self,
        asked: &Asked<'_>,
        mut take: impl FnMut(&Self, &[usize], &Payload) -> Result<(), PartyError>,
    ) -> Result<(), RunError> {
        let mut shared = BTreeMap::new();
        let mut open = HashMap::new();
        for (host, places) in self.by_host(asked.job) {
            let request = self.request(asked, host, &places, &mut shared)?;
            match self.parties.send(host, &request) {
                Ok(ticket) => _ = open.insert(ticket, (host, places)),
                Err(why) => self.leave_out(asked.job, (host, &places), why),
            }
        }
        while !open.is_empty() {
            for (ticket, reply) in self.parties.poll()? {
                // Others are replies of an attempt that ended early.
                let Some((host, places)) = open.remove(&ticket) else {
                    continue;
                };
                match reply.and_then(|reply| take(self, &places, &reply)) {
                    Ok(()) => _ = self.replied.insert(host),
                    Err(why) => self.leave_out(asked.job, (host, &places), why),
                }
            }
        }
        Ok(())
    }

    /// Those of a job's clients that were lost.
    fn lost_of(&self, job: &Job<'_>) -> Lost {
        let own = job.ids.iter().filter(|client| self.lost.contains(client));
        let (late, failed) = own.partition(|client| self.late.contains(client));
        Lost { failed, late }
    }
}

impl RunRegion for Remote {
    fn run(&mut self, job: &Job<'_>, take: Take<'_>) -> Result<Lost, RunError> {
        let (index, region) = self.table.of_job(self.phase, job)?;
        let asked = Asked {
            index,
            region: &region.clone(),
            job,
            server: None,
        };
        let mut in_order = InOrder::new(job, take);
        self.ask(&asked, |remote, places, reply| {
            let outcomes = remote.outcomes(&asked, places, reply)?;
            in_order.add(places, outcomes);
            in_order.advance(&remote.lost);
            Ok(())
        })?;
        in_order.advance(&self.lost);
        in_order.finish()?;
        Ok(self.lost_of(job))
    }

    fn is_there(&self, client: usize) -> bool {
        self.hosts.contains_key(&client) && !self.lost.contains(&client)
    }

    fn renew(&mut self, values: &[Value]) {
        self.delivered.retain(|(_, value)| !values.contains(value));
    }
}
