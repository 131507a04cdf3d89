//! The parties of a federation, as its coordinator reaches them through a SuperLink.

mod greet;
mod notice;
mod outbox;
mod told;
mod transport;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fedround_flower::{
    Coordinator, FlowerError, Form, MessageKind, NodeId, RunOutcome, StopSignal,
    Ticket as FlowerTicket,
};
use fedround_simulation::parties::{HostId, PartyError, Payload, Replies, Ticket};

use super::client_apps::{ClientApps, Translated};
use super::convention::TRAIN;
use super::hello::REGION;
use super::message::{SharedRecord, from_flower, to_flower};
use super::terms::Terms;

use outbox::{Outbox, Queued};
use told::Told;

pub use notice::{FederationSettings, Notice};

/// Clocks of machines differ: the SuperLink decides what has expired, and so much later we do.
const GRACE: Duration = Duration::from_secs(30);

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
    /// Parties that do not take part, and since when. They are asked again when they come online anew, and
    /// after a while: their operators may have started them again with other settings.
    refused: BTreeMap<NodeId, Instant>,
    /// Parties that failed. They take part, unless they refuse when they are asked anew.
    doubted: BTreeSet<NodeId>,
    /// Parties that have not answered yet, and until when they may.
    greeted: HashMap<FlowerTicket, Instant>,
    /// Requests without replies, and until when these are waited for.
    open: HashMap<FlowerTicket, (Ticket, Instant)>,
    tickets: u64,
    /// What the last party was sent alike with others.
    sent: SharedRecord,
    /// Requests that are sent together.
    outbox: Outbox,
    /// Replies for which nothing was sent.
    ready: Replies,
    /// Speaks with parties that are apps of Flower, if they may take part.
    apps: Option<ClientApps>,
    /// What parties must have alike beside the program, if that is compared.
    terms: Option<Terms>,
    /// Whether the coordinator was asked to end, which no wait outlasts.
    stop: StopSignal,
    /// Why nothing could be sent, of a coordinator that is to end.
    unsent: Option<FlowerError>,
    /// Is called before a round in which noise is told.
    note_noise: Box<dyn FnMut(usize) -> Result<(), String> + Send>,
    /// What the operator knows already.
    told: Told,
}

impl FlowerParties {
    /// The parties of a run, which this process coordinates, for the program with this
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
            refused: BTreeMap::new(),
            doubted: BTreeSet::new(),
            greeted: HashMap::new(),
            open: HashMap::new(),
            tickets: 0,
            sent: SharedRecord::default(),
            outbox: Outbox::default(),
            ready: vec![],
            apps: None,
            terms: None,
            stop: StopSignal::default(),
            unsent: None,
            note_noise: Box::new(|_| Ok(())),
            told: Told::default(),
        };
        (parties, end)
    }

    /// Lets apps of Flower take part, too.
    #[must_use]
    pub fn with_client_apps(mut self, apps: ClientApps) -> Self {
        self.apps = Some(apps);
        self
    }

    /// Has parties compare these terms with their own.
    #[must_use]
    pub fn with_terms(mut self, terms: Terms) -> Self {
        self.terms = Some(terms);
        self
    }

    /// Calls `note` before a round in which [noise is told](fedround_simulation::Simulation::next_round_tells_noise). If
    /// it fails, the round does not begin.
    #[must_use]
    pub fn with_note_of_noise(
        mut self,
        note: impl FnMut(usize) -> Result<(), String> + Send + 'static,
    ) -> Self {
        self.note_noise = Box::new(note);
        self
    }

    /// Waits for no party once the coordinator is asked to end: the round then ends with an error, and is
    /// none that was skipped.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSignal) -> Self {
        self.stop = stop;
        self
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

    /// Drops what has come in reply to requests that are waited for no longer.
    fn forget(&self, requests: &[FlowerTicket]) {
        // Nothing is kept once the run has ended, which is the only error.
        let _ = self.call(|coordinator| {
            coordinator.forget(requests);
            Ok(())
        });
    }

    fn try_send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let to = NodeId(to.0);
        let app = self.apps.as_ref().filter(|apps| apps.is_app(to));
        let translated = app.map(|apps| apps.request(request)).transpose();
        let (kind, content, form) = match translated.map_err(|error| text(&error))? {
            None => {
                let content = to_flower(request, &mut self.sent);
                (REGION, content.map_err(|error| text(&error))?, Form::Inline)
            }
            Some(Translated::Request(content)) => (TRAIN, content, Form::Objects),
            Some(Translated::Reply(reply)) => {
                let ticket = self.ticket();
                self.ready.push((ticket, Ok(reply)));
                return Ok(ticket);
            }
        };
        let kind = MessageKind::new(kind).map_err(|error| text(&error))?;
        let ticket = self.ticket();
        self.outbox.push(Queued {
            ticket,
            to,
            kind,
            content,
            form,
        });
        if let Some(apps) = self.apps.as_mut().filter(|apps| apps.is_app(to)) {
            apps.sent(ticket, request);
        }
        if self.outbox.is_full() {
            self.send_queued();
        }
        Ok(ticket)
    }

    /// Sends the requests that are queued. If that fails, each of them has failed.
    fn send_queued(&mut self) {
        let queued = self.outbox.take();
        if queued.is_empty() {
            return;
        }
        let deadline = self.settings.deadline;
        let requests: Vec<_> = queued.iter().map(Queued::outgoing).collect();
        let sent = self.call(|coordinator| coordinator.send_all(&requests, deadline));
        let end = Instant::now() + deadline + GRACE;
        let tickets = queued.iter().map(|queued| queued.ticket);
        match sent {
            Ok(sent) => {
                let open = sent.into_iter().zip(tickets);
                self.open
                    .extend(open.map(|(sent, ticket)| (sent, (ticket, end))));
            }
            Err(error) if self.stop.requested() => self.unsent = Some(error),
            Err(error) => {
                let failed = PartyError::Failed(error.to_string());
                for ticket in tickets {
                    if let Some(apps) = &mut self.apps {
                        apps.open.remove(&ticket);
                    }
                    self.ready.push((ticket, Err(failed.clone())));
                }
            }
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// The reply in a message.
    fn read(
        &mut self,
        ticket: Ticket,
        content: &fedround_flower::Payload,
    ) -> Result<Payload, PartyError> {
        let failed = |error: &dyn std::fmt::Display| PartyError::Failed(error.to_string());
        let apps = self.apps.as_mut();
        match apps.filter(|apps| apps.open.contains_key(&ticket)) {
            Some(apps) => apps.reply(ticket, content).map_err(|error| failed(&error)),
            None => from_flower(content).map_err(|error| failed(&error)),
        }
    }

    /// Requests whose replies are waited for no longer.
    fn expire(&mut self) -> Vec<Ticket> {
        let now = Instant::now();
        let late = self.open.extract_if(|_, (_, end)| *end < now);
        let late = late.map(|(sent, (ticket, _))| (sent, ticket));
        let (sent, tickets): (Vec<FlowerTicket>, Vec<Ticket>) = late.unzip();
        self.forget(&sent);
        if let Some(apps) = &mut self.apps {
            for ticket in &tickets {
                apps.open.remove(ticket);
            }
        }
        tickets
    }
}
