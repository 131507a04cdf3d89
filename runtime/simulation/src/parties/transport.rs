//! The interface through which a coordinator reaches parties.

use super::payload::Payload;

/// A process that hosts clients: one party, or a block of simulated clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u64);

/// A host that can be asked now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its number, which stays the same as long as it keeps its clients' states.
    pub id: HostId,
    /// Its clients, by their numbers among all clients. No two hosts have a client in common.
    pub clients: Vec<usize>,
}

/// A request that was sent, by which its reply is known. A transport never uses one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Why a party gives no reply. Its clients are then as clients that failed in a simulation: they are left
/// out of the round, counted and named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartyError {
    /// It cannot be reached.
    #[error("the party is offline")]
    Offline,
    /// It did not reply before the deadline.
    #[error("the party did not reply before the deadline")]
    Expired,
    /// It replied that it could not do what was asked, or its reply is not what the region gives.
    #[error("the party failed: {0}")]
    Failed(String),
}

/// What became of requests.
pub type Replies = Vec<(Ticket, Result<Payload, PartyError>)>;

/// Nobody can be reached: what carries messages does not answer. The round ends with an error, and can be
/// run again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no party can be reached: {0}")]
pub struct Unreachable(pub String);

/// The parties of a federation, as a coordinator reaches them.
///
/// A round sends each host one request for each region in which its clients take part, and polls until all
/// requests have a reply or an error. Deadlines, retries and the encryption of messages are the
/// transport's.
pub trait Parties: Send {
    /// The hosts that can be asked now, with their clients. It is called once for each attempt of a
    /// round; clients of no host count as failed.
    ///
    /// # Errors
    ///
    /// Nobody can be reached.
    fn online(&mut self) -> Result<Vec<Host>, Unreachable>;

    /// The hosts that can be asked now, as [`online`](Self::online), for a transport that waits there for
    /// those who are missing: here it does not.
    ///
    /// # Errors
    ///
    /// Nobody can be reached.
    fn online_now(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.online()
    }

    /// Is told that the clients of a host are left out because of its reply, or because there is none: of
    /// what `send` or `poll` gave, and of replies that were refused after that.
    fn left_out(&mut self, _host: HostId, _why: &PartyError) {}

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// The host is known to be offline.
    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError>;

    /// Waits for some time, and gives replies that arrived, each once. It may give none, and is then called
    /// again: a request without a reply must end with [`PartyError::Expired`] at last.
    ///
    /// # Errors
    ///
    /// Nobody can be reached.
    fn poll(&mut self) -> Result<Replies, Unreachable>;
}
