//! The interface through which a coordinator reaches parties.

use super::payload::Payload;

/// A process that hosts clients: one party, or a block of simulated clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u64);

/// A host that is online.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The host's number, which stays the same as long as it keeps its clients' states.
    pub id: HostId,
    /// The numbers of the host's clients. No two hosts have a client in common.
    pub clients: Vec<usize>,
}

/// Identifies a request that was sent, and its reply. A transport never uses a ticket twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Why a party gave no usable reply. Its clients are then treated like clients that fail in a simulation: they are left
/// out of the round, counted and named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartyError {
    /// The party cannot be reached.
    #[error("the party is offline")]
    Offline,
    /// The party did not reply before the deadline.
    #[error("the party did not reply before the deadline")]
    Expired,
    /// The party replied that it could not do what was requested, or its reply does not match the region's table.
    #[error("the party failed: {0}")]
    Failed(String),
}

/// The replies or errors of requests.
pub type Replies = Vec<(Ticket, Result<Payload, PartyError>)>;

/// No party can be reached, because the transport does not work. The round ends with an error, and can be run again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no party can be reached: {0}")]
pub struct Unreachable(pub String);

/// A transport, by which a coordinator reaches the parties of a federation.
///
/// In a round, each host is sent one request for each region in which its clients take part. The coordinator then polls
/// until all requests have a reply or an error. The transport is responsible for deadlines, retries and encryption.
pub trait Parties: Send {
    /// The hosts that are online, with their clients. The coordinator calls it once for each attempt of a round.
    /// Clients without an online host count as failed.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    fn online(&mut self) -> Result<Vec<Host>, Unreachable>;

    /// The hosts that are online now. A transport whose [`online`](Self::online) waits for missing hosts does not wait
    /// here.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    fn online_now(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.online()
    }

    /// Is called when the clients of a host are left out of a round: `send` or `poll` gave an error for the host, or
    /// the coordinator refused its reply.
    fn left_out(&mut self, _host: HostId, _why: &PartyError) {}

    /// Is called before anything is sent in a round that [tells noise](crate::Simulation::next_round_tells_noise). A
    /// coordinator that may be killed writes the round down, so that the next one [skips](crate::Simulation::skip_until)
    /// it. Need not be written for a transport within one process.
    ///
    /// # Errors
    ///
    /// Why the round may not begin.
    fn before_noise(&mut self, _round: usize) -> Result<(), String> {
        Ok(())
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// The host is known to be offline.
    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError>;

    /// Waits for a limited time, and returns the replies that arrived, each once. It may return none, and is then
    /// called again. A request without a reply must end with [`PartyError::Expired`] at some time.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    fn poll(&mut self) -> Result<Replies, Unreachable>;
}
