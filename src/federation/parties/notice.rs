//! Settings and notices of a coordinator's operator.

use std::time::Duration;

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
    /// An app of Flower is there, which is this client and has so many examples. It does not check what it
    /// is asked.
    AppJoined(u64, usize, u64),
    /// A party is not online any more.
    Left(u64),
    /// A party does not take part, and why.
    Refused(u64, String),
    /// A party did not do what it was asked, and why. Its clients are left out of the round.
    Failed(u64, String),
    /// The first number of parties are online, and the coordinator waits for the second.
    Waiting(usize, usize),
}
