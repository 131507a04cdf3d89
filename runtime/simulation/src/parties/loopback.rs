//! Parties in the same process, which communicate only by bytes. They serve to test algorithms and transports.

use super::host::PartyHost;
use super::payload::Payload;
use super::transport::{Host, HostId, Parties, PartyError, Replies, Ticket, Unreachable};

/// Hosts in this process. Every message is encoded and decoded, as if it had crossed a network.
pub struct Loopback {
    hosts: Vec<PartyHost>,
    replies: Replies,
    tickets: u64,
    traffic: Traffic,
}

/// The messages and bytes that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages both ways.
    pub messages: usize,
    /// Bytes of values sent to parties, as the wire table counts them. A broadcast value counts once for each host.
    pub down: usize,
    /// Bytes of values sent by parties, as the wire table counts them.
    pub up: usize,
    /// All bytes in both directions, including heads and reports.
    pub total: usize,
}

impl Loopback {
    /// Creates a transport to hosts. A host's number is its index in the list.
    pub fn new(hosts: Vec<PartyHost>) -> Self {
        Self {
            hosts,
            replies: vec![],
            tickets: 0,
            traffic: Traffic::default(),
        }
    }

    /// The messages and bytes that were sent so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The hosts.
    pub fn hosts(&self) -> &[PartyHost] {
        &self.hosts
    }

    fn answer(&mut self, to: HostId, request: &Payload) -> Result<Payload, PartyError> {
        let failed = |error: &dyn std::fmt::Display| PartyError::Failed(error.to_string());
        let host = usize::try_from(to.0).ok();
        let host = host.and_then(|i| self.hosts.get_mut(i));
        let host = host.ok_or(PartyError::Offline)?;
        let bytes = request.encode().map_err(|error| failed(&error))?;
        let back = host.answer(&bytes);
        let reply = Payload::decode(&back).map_err(|error| failed(&error))?;
        self.traffic.messages += 2;
        self.traffic.down += request.wire_bytes();
        self.traffic.up += reply.wire_bytes();
        self.traffic.total += bytes.len() + back.len();
        Ok(reply)
    }
}

impl Parties for Loopback {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        let hosts = self.hosts.iter().zip(0..);
        let hosts = hosts.map(|(host, id)| Host {
            id: HostId(id),
            clients: host.clients().to_vec(),
        });
        Ok(hosts.collect())
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        let reply = self.answer(to, request);
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.replies.push((ticket, reply));
        Ok(ticket)
    }

    /// Gives the reply to the latest request first, to test that results do not depend on the order of replies.
    fn poll(&mut self) -> Result<Replies, Unreachable> {
        Ok(self.replies.pop().into_iter().collect())
    }
}
