//! The direction in which the value of an operation crosses: to clients, to the server, or not at all.

use std::fmt;

/// Which way a value crosses between the server and the clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Server to clients.
    Down,
    /// Clients to server.
    Up,
    /// Clients to clients.
    Across,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "server → client",
            Self::Up => "client → server",
            Self::Across => "client → client",
        })
    }
}
