//! The column "derived from" of the wire table.

use std::fmt;

/// What a value on the wire is derived from. Its text is the column "derived from" of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// Parameters that were trained on the client's examples, and on its kept state if `state`.
    Trained {
        /// Whether kept client state went into it.
        state: bool,
    },
    /// Another value that was computed from the client's examples.
    Computed {
        /// Whether kept client state went into it.
        state: bool,
    },
    /// State that the client keeps.
    ClientState,
    /// The number of the client's examples.
    ExampleCount,
    /// A number that every client sends alike.
    SameEverywhere,
    /// The client's number, or what it drew at random.
    NumberOrDraw,
    /// What the client received, unchanged.
    AsReceived,
    /// Something else that the client computed from what it received, and from the number of its examples
    /// if `count`.
    FromReceived {
        /// Whether the number of its examples went into it.
        count: bool,
    },
    /// An aggregate of this round.
    Aggregate,
    /// Global parameters and server state.
    GlobalAndState,
    /// Server state.
    ServerState,
    /// Global parameters.
    Global,
    /// Something else that the server computed.
    Server,
    /// Values that the server has of other clients, which visit this one.
    OtherClients,
    /// What the server computed for this client.
    ServerForClient,
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trained { state: false } => "trained on local data",
            Self::Trained { state: true } => "trained on local data and kept client state",
            Self::Computed { state: false } => "computed from local data",
            Self::Computed { state: true } => "computed from local data and kept client state",
            Self::ClientState => "kept client state",
            Self::ExampleCount => "count of examples",
            Self::SameEverywhere => "the same on every client",
            Self::NumberOrDraw => "the client's number or random draws",
            Self::AsReceived => "as received",
            Self::FromReceived { count: false } => "computed from what it received",
            Self::FromReceived { count: true } => {
                "computed from what it received and its count of examples"
            }
            Self::Aggregate => "aggregate of this round",
            Self::GlobalAndState => "global parameters and server state",
            Self::ServerState => "server state",
            Self::Global => "global parameters",
            Self::Server => "computed on the server",
            Self::OtherClients => "the server's values of other clients",
            Self::ServerForClient => "the server's work for it",
        })
    }
}
