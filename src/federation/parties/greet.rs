//! Keeps the list of parties that take part, as they come, answer and leave.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fedround_flower::{
    FlowerError, MessageKind, NodeId, PartyError as FlowerPartyError, Ticket as FlowerTicket,
};

use super::super::hello::{self, Greeting};
use super::super::terms::Terms;
use super::{FlowerParties, Notice};

/// How long a party may take to say which clients it hosts. An app of Flower is a process that starts.
const GREETING: Duration = Duration::from_secs(60);
/// How long it is waited for before those are greeted who came since.
const LISTEN: Duration = Duration::from_secs(15);
/// How long a party that was refused is left alone, if it stays online.
const REFUSED: Duration = Duration::from_secs(30);
/// How long it is waited for when there are enough others.
const MANNERS: Duration = Duration::from_millis(500);

impl FlowerParties {
    /// Greets those who came, and forgets those who left.
    pub(super) fn look(&mut self) -> Result<(), FlowerError> {
        let online: BTreeSet<NodeId> = self
            .call(|coordinator| coordinator.nodes())?
            .iter()
            .map(|node| node.id)
            .collect();
        let there = self.known.keys();
        let left: Vec<NodeId> = there.filter(|id| !online.contains(id)).copied().collect();
        if !left.is_empty() {
            // One who was refused may have come in place of one who left, as the same client.
            self.refused.clear();
        }
        for id in left {
            self.known.remove(&id);
            if let Some(apps) = &mut self.apps {
                apps.online.remove(&id);
            }
            (self.notify)(Notice::Left(id.0));
        }
        self.told.keep(&online);
        self.doubted.retain(|id| online.contains(id));
        let stays = |since: &Instant| since.elapsed() < REFUSED;
        self.refused
            .retain(|id, since| online.contains(id) && stays(since));
        self.drop_greetings(|ticket, _| !online.contains(&ticket.node));
        let known = |id: &NodeId| self.known.contains_key(id) && !self.doubted.contains(id);
        let new = |id: &&NodeId| !known(id) && !self.refused.contains_key(id);
        let asked: BTreeSet<NodeId> = self.greeted.keys().map(|ticket| ticket.node).collect();
        let new = online.iter().filter(new).filter(|id| !asked.contains(id));
        let new: Vec<NodeId> = new.copied().collect();
        if !new.is_empty() {
            let kind = MessageKind::new(hello::HELLO)?;
            let question = hello::question(&self.graph, self.terms.as_ref());
            let sent =
                self.call(|coordinator| coordinator.send(&new, &kind, &question, GREETING))?;
            self.doubted.clear();
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
            self.drop_greetings(|_, end| end <= now);
            let enough = self.known.len() >= self.settings.min_parties;
            let most = if enough { MANNERS } else { LISTEN };
            let ends = start.elapsed() > most || self.stop.requested();
            if self.greeted.is_empty() || ends {
                return Ok(());
            }
            let open: Vec<FlowerTicket> = self.greeted.keys().cloned().collect();
            let Some(reply) = self.call(|coordinator| coordinator.wait(&open, MANNERS))? else {
                continue;
            };
            self.greeted.remove(&reply.ticket);
            let id = reply.ticket.node;
            match reply.content {
                Ok(content) => match hello::greeting(&content) {
                    Ok(greeting) => self.join(id, greeting),
                    Err(error) => self.refuse(id, error.to_string()),
                },
                Err(FlowerPartyError::Failed(why)) => self.refuse(id, why),
                // It may answer the next time.
                Err(_) => {}
            }
        }
    }

    /// Waits no longer for some of the answers to greetings.
    fn drop_greetings(&mut self, ends: impl Fn(&FlowerTicket, Instant) -> bool) {
        let dropped = self.greeted.extract_if(|ticket, end| ends(ticket, *end));
        let dropped: Vec<FlowerTicket> = dropped.map(|(ticket, _)| ticket).collect();
        self.forget(&dropped);
    }

    fn join(&mut self, id: NodeId, greeting: Greeting) {
        let (clients, notice) = match greeting {
            Greeting::Party(clients) => (clients.clone(), Notice::Joined(id.0, clients)),
            Greeting::App { client, examples } => {
                if let Some(why) = self.app_refusal(client) {
                    return self.refuse(id, why);
                }
                (vec![client], Notice::AppJoined(id.0, client, examples))
            }
        };
        let all = self.terms.as_ref().map_or(usize::MAX, Terms::population);
        if let Some(client) = clients.iter().find(|client| **client >= all) {
            let why = format!("client {client} is not one of the federation's {all}");
            return self.refuse(id, why);
        }
        let is_app = matches!(notice, Notice::AppJoined(..));
        let mut others = self.known.iter().filter(|(other, _)| **other != id);
        let taken = others.find_map(|(other, own)| {
            let both = own.iter().find(|client| clients.contains(client))?;
            Some(format!("party {other} has client {both} already"))
        });
        match taken {
            Some(why) => self.refuse(id, why),
            None => {
                if let Some(apps) = self.apps.as_mut().filter(|_| is_app) {
                    apps.online.insert(id);
                }
                if self.told.is_new_party(id, &clients) {
                    (self.notify)(notice);
                }
                self.known.insert(id, clients);
            }
        }
    }

    /// Why an app that is this client cannot take part.
    fn app_refusal(&self, client: usize) -> Option<String> {
        let Some(apps) = &self.apps else {
            let why = "it is an app of Flower, and this coordinator was started without one";
            return Some(why.to_owned());
        };
        let all = apps.clients;
        (client >= all).then(|| format!("client {client} is not one of the federation's {all}"))
    }

    fn refuse(&mut self, id: NodeId, why: String) {
        self.known.remove(&id);
        self.told.leaves(id);
        if self.told.is_new_reason(id, &why) {
            (self.notify)(Notice::Refused(id.0, why));
        }
        self.refused.insert(id, Instant::now());
    }
}
