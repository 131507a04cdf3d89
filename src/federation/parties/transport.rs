//! The parties of a federation as those of a simulation.

use std::time::{Duration, Instant};

use fedround_flower::{
    FlowerError, NodeId, PartyError as FlowerPartyError, Ticket as FlowerTicket,
};
use fedround_simulation::parties::{
    Host, HostId, Parties, PartyError, Payload, Replies, Ticket, Unreachable,
};

use super::{FlowerParties, Notice};

/// How often a coordinator looks for parties that it waits for.
const LOOK: Duration = Duration::from_millis(300);
/// How long one poll waits for replies.
const POLL: Duration = Duration::from_secs(1);

impl FlowerParties {
    fn hosts(&self) -> Vec<Host> {
        let hosts = self.known.iter();
        let hosts = hosts.map(|(id, clients)| Host {
            id: HostId(id.0),
            clients: clients.clone(),
        });
        hosts.collect()
    }
}

impl Parties for FlowerParties {
    fn before_noise(&mut self, round: usize) -> Result<(), String> {
        (self.note_noise)(round)
    }

    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        let start = Instant::now();
        let mut told = None;
        loop {
            self.look().map_err(unreachable)?;
            let there = self.known.len();
            if there >= self.settings.min_parties || start.elapsed() > self.settings.patience {
                return Ok(self.hosts());
            }
            if self.stop.requested() {
                let why = "the coordinator was asked to stop while it waited for parties";
                return Err(Unreachable(why.to_owned()));
            }
            if told != Some(there) {
                (self.notify)(Notice::Waiting(there, self.settings.min_parties));
                told = Some(there);
            }
            std::thread::sleep(LOOK);
        }
    }

    fn online_now(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.look().map_err(unreachable)?;
        Ok(self.hosts())
    }

    /// A party that failed is greeted again before the next round: its operator may have started it anew
    /// with other settings. Apps of Flower have none.
    fn left_out(&mut self, host: HostId, why: &PartyError) {
        let PartyError::Failed(why) = why else {
            return;
        };
        let id = NodeId(host.0);
        if self.told.is_new_reason(id, why) {
            (self.notify)(Notice::Failed(host.0, why.clone()));
        }
        if !self.apps.as_ref().is_some_and(|apps| apps.is_app(id)) {
            self.doubted.insert(id);
        }
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        self.try_send(to, request).map_err(PartyError::Failed)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        // No more requests of a region follow.
        self.send_queued();
        self.sent.clear();
        if let Some(error) = self.unsent.take() {
            return Err(unreachable(error));
        }
        let late = self.expire().into_iter();
        let mut all = std::mem::take(&mut self.ready);
        all.extend(late.map(|ticket| (ticket, Err(PartyError::Expired))));
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
                Ok(content) => self.read(ticket, &content),
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
