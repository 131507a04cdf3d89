//! The parties of a federation, as its coordinator reaches them through a SuperLink.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fedround_flower::{
    Coordinator, FlowerError, MessageKind, NodeId, PartyError as FlowerPartyError, RunOutcome,
    Ticket as FlowerTicket,
};
use fedround_simulation::parties::{
    Host, HostId, Parties, PartyError, Payload, Replies, Ticket, Unreachable,
};

use super::hello;
use super::message::{from_flower, to_flower};

/// How often a coordinator looks for parties that it waits for.
const LOOK: Duration = Duration::from_millis(300);
/// How long one poll waits for replies.
const POLL: Duration = Duration::from_secs(1);
/// How long a party may take to say which clients it hosts.
const GREETING: Duration = Duration::from_secs(15);
/// How long it is waited for when there are enough others.
const MANNERS: Duration = Duration::from_millis(500);
/// Clocks of machines differ: the SuperLink decides what has expired, and so much later we do.
const GRACE: Duration = Duration::from_secs(30);

/// How a coordinator waits.
#[derive(Clone, Copy, Debug)]
pub struct FederationSettings {
    /// A round begins when so many parties are online.
    pub min_parties: usize,
    /// How long a round waits for them, before it goes on with those that there are.
    pub patience: Duration,
    /// How long a party may take to answer a request.
    pub deadline: Duration,
}

/// Something that an operator wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A party is there with these clients.
    Joined(u64, Vec<usize>),
    /// A party is not online any more.
    Left(u64),
    /// A party does not take part, and why.
    Refused(u64, String),
    /// So many parties are online, and so many are waited for.
    Waiting(usize, usize),
}

/// The coordinator of a run, shared between its parties and who ends the run.
type Shared = Arc<Mutex<Option<Coordinator>>>;

/// Ends a run at the SuperLink.
pub struct RunEnd(Shared);

impl RunEnd {
    /// Tells the SuperLink how the run ended, which ends it for the parties, too.
    ///
    /// # Errors
    ///
    /// The SuperLink cannot be reached. It then takes the run for failed after a minute.
    pub fn finish(self, outcome: RunOutcome) -> Result<(), FlowerError> {
        let coordinator = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        coordinator.map_or(Ok(()), |coordinator| coordinator.finish(outcome))
    }
}

/// The parties that are online at a SuperLink and take part in a program.
pub struct FlowerParties {
    coordinator: Shared,
    settings: FederationSettings,
    graph: String,
    notify: Box<dyn FnMut(Notice) + Send>,
    /// The clients of each party that takes part.
    known: BTreeMap<NodeId, Vec<usize>>,
    /// Parties that do not take part. They are asked again when they come online anew.
    refused: BTreeSet<NodeId>,
    /// Parties that have not answered yet, and until when they may.
    greeted: HashMap<FlowerTicket, Instant>,
    /// Requests without replies, and until when these are waited for.
    open: HashMap<FlowerTicket, (Ticket, Instant)>,
    tickets: u64,
}

impl FlowerParties {
    /// Those of a run, which this process coordinates, for the program with this
    /// [hash](fedround_simulation::Simulation::graph_hash). `notify` is shown who comes and goes.
    pub fn new(
        coordinator: Coordinator,
        graph: String,
        settings: FederationSettings,
        notify: impl FnMut(Notice) + Send + 'static,
    ) -> (Self, RunEnd) {
        let coordinator = Arc::new(Mutex::new(Some(coordinator)));
        let end = RunEnd(coordinator.clone());
        let parties = Self {
            coordinator,
            settings,
            graph,
            notify: Box::new(notify),
            known: BTreeMap::new(),
            refused: BTreeSet::new(),
            greeted: HashMap::new(),
            open: HashMap::new(),
            tickets: 0,
        };
        (parties, end)
    }

    /// Calls the SuperLink.
    fn call<T>(
        &self,
        call: impl FnOnce(&mut Coordinator) -> Result<T, FlowerError>,
    ) -> Result<T, FlowerError> {
        let mut coordinator = self
            .coordinator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match coordinator.as_mut() {
            Some(coordinator) => call(coordinator),
            None => Err(FlowerError::Lost {
                problem: "the run has ended".to_owned(),
            }),
        }
    }

    /// Greets those who came, and forgets those who left.
    fn look(&mut self) -> Result<(), FlowerError> {
        let online: BTreeSet<NodeId> = self
            .call(|coordinator| coordinator.nodes())?
            .iter()
            .map(|node| node.id)
            .collect();
        let left: Vec<NodeId> = self
            .known
            .keys()
            .filter(|id| !online.contains(id))
            .copied()
            .collect();
        for id in left {
            self.known.remove(&id);
            (self.notify)(Notice::Left(id.0));
        }
        self.refused.retain(|id| online.contains(id));
        self.greeted
            .retain(|ticket, _| online.contains(&ticket.node));
        let new = |id: &&NodeId| !self.known.contains_key(id) && !self.refused.contains(id);
        let asked: BTreeSet<NodeId> = self.greeted.keys().map(|ticket| ticket.node).collect();
        let new = online.iter().filter(new).filter(|id| !asked.contains(id));
        let new: Vec<NodeId> = new.copied().collect();
        if !new.is_empty() {
            let kind = MessageKind::new(hello::HELLO)?;
            let question = hello::question(&self.graph);
            let sent =
                self.call(|coordinator| coordinator.send(&new, &kind, &question, GREETING))?;
            let end = Instant::now() + GREETING;
            self.greeted
                .extend(sent.into_iter().map(|ticket| (ticket, end)));
        }
        self.listen()
    }

    /// Takes answers of parties that were greeted. Nobody waits long for one that does not answer, if
    /// there are enough others.
    fn listen(&mut self) -> Result<(), FlowerError> {
        let start = Instant::now();
        loop {
            let now = Instant::now();
            self.greeted.retain(|_, end| *end > now);
            let enough = self.known.len() >= self.settings.min_parties;
            if self.greeted.is_empty() || (enough && start.elapsed() > MANNERS) {
                return Ok(());
            }
            let open: Vec<FlowerTicket> = self.greeted.keys().cloned().collect();
            let Some(reply) = self.call(|coordinator| coordinator.wait(&open, MANNERS))? else {
                continue;
            };
            self.greeted.remove(&reply.ticket);
            let id = reply.ticket.node;
            match reply.content {
                Ok(content) => match hello::clients(&content) {
                    Ok(clients) => self.join(id, clients),
                    Err(error) => self.refuse(id, error.to_string()),
                },
                Err(FlowerPartyError::Failed(why)) => self.refuse(id, why),
                // It may answer the next time.
                Err(_) => {}
            }
        }
    }

    fn join(&mut self, id: NodeId, clients: Vec<usize>) {
        let mut others = self.known.iter();
        let taken = others.find_map(|(other, own)| {
            let both = own.iter().find(|client| clients.contains(client))?;
            Some(format!("party {other} has client {both} already"))
        });
        match taken {
            Some(why) => self.refuse(id, why),
            None => {
                (self.notify)(Notice::Joined(id.0, clients.clone()));
                self.known.insert(id, clients);
            }
        }
    }

    fn refuse(&mut self, id: NodeId, why: String) {
        (self.notify)(Notice::Refused(id.0, why));
        self.refused.insert(id);
    }

    fn try_send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, String> {
        let content = to_flower(request).map_err(|error| error.to_string())?;
        let text = |error: FlowerError| error.to_string();
        let kind = MessageKind::new(hello::REGION).map_err(|error| error.to_string())?;
        let deadline = self.settings.deadline;
        let to = [NodeId(to.0)];
        let sent = self
            .call(|coordinator| coordinator.send(&to, &kind, &content, deadline))
            .map_err(text)?;
        let sent = sent
            .into_iter()
            .next()
            .ok_or("the SuperLink gave no ticket")?;
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let end = Instant::now() + deadline + GRACE;
        self.open.insert(sent, (ticket, end));
        Ok(ticket)
    }

    /// Requests whose replies are waited for no longer.
    fn expire(&mut self) -> Vec<Ticket> {
        let now = Instant::now();
        let late = self.open.iter().filter(|(_, (_, end))| *end < now);
        let late: Vec<(FlowerTicket, Ticket)> = late
            .map(|(sent, (ticket, _))| (sent.clone(), *ticket))
            .collect();
        late.into_iter()
            .map(|(sent, ticket)| {
                self.open.remove(&sent);
                ticket
            })
            .collect()
    }
}

impl Parties for FlowerParties {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        let start = Instant::now();
        let mut told = None;
        loop {
            self.look().map_err(unreachable)?;
            let there = self.known.len();
            if there >= self.settings.min_parties || start.elapsed() > self.settings.patience {
                break;
            }
            if told != Some(there) {
                (self.notify)(Notice::Waiting(there, self.settings.min_parties));
                told = Some(there);
            }
            thread::sleep(LOOK);
        }
        let hosts = self.known.iter();
        let hosts = hosts.map(|(id, clients)| Host {
            id: HostId(id.0),
            clients: clients.clone(),
        });
        Ok(hosts.collect())
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        self.try_send(to, request).map_err(PartyError::Failed)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        let late = self.expire().into_iter();
        let mut all: Vec<_> = late
            .map(|ticket| (ticket, Err(PartyError::Expired)))
            .collect();
        if !all.is_empty() || self.open.is_empty() {
            return Ok(all);
        }
        let open: Vec<FlowerTicket> = self.open.keys().cloned().collect();
        let reply = self
            .call(|coordinator| coordinator.wait(&open, POLL))
            .map_err(unreachable)?;
        if let Some(reply) = reply
            && let Some((ticket, _)) = self.open.remove(&reply.ticket)
        {
            let content = match reply.content {
                Ok(content) => {
                    from_flower(&content).map_err(|error| PartyError::Failed(error.to_string()))
                }
                Err(FlowerPartyError::Offline) => Err(PartyError::Offline),
                Err(FlowerPartyError::Expired) => Err(PartyError::Expired),
                Err(FlowerPartyError::Failed(why)) => Err(PartyError::Failed(why)),
            };
            all.push((ticket, content));
        }
        Ok(all)
    }
}

fn unreachable(error: FlowerError) -> Unreachable {
    Unreachable(error.to_string())
}
