//! Parties in the same process that get nothing but bytes: for tests of algorithms and transports.

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

/// What crossed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages both ways.
    pub messages: usize,
    /// Bytes of values to parties, as the wire table counts them, those of a broadcast once for each host.
    pub down: usize,
    /// Bytes of values from parties, as the wire table counts them.
    pub up: usize,
    /// All bytes, with heads and reports.
    pub total: usize,
}

impl Loopback {
    /// Hosts whose numbers are their places in the list.
    pub fn new(hosts: Vec<PartyHost>) -> Self {
        Self {
            hosts,
            replies: vec![],
            tickets: 0,
            traffic: Traffic::default(),
        }
    }

    /// What crossed so far.
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

    /// In another order than that of the requests: no result may depend on it.
    fn poll(&mut self) -> Result<Replies, Unreachable> {
        Ok(self.replies.pop().into_iter().collect())
    }
}
