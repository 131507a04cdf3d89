//! The slots of an algorithm: the methods of `Algorithm` that a spec may define.

/// A method of `Algorithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// One round, on the server.
    Round,
    /// What a client does in a round.
    ClientUpdate,
    /// How the clients' results become the server's.
    Aggregate,
    /// The direction of a local step.
    Direction,
    /// The loss on a batch.
    DataLoss,
    /// What is added to the loss.
    Penalty,
    /// The model that a client uses.
    Personalize,
    /// The direction of a step of the server's.
    ServerDirection,
}

impl Slot {
    /// All slots' names, as in [`Slot::from_name`].
    pub const NAMES: [&'static str; 8] = [
        "round",
        "client_update",
        "aggregate",
        "direction",
        "data_loss",
        "penalty",
        "personalize",
        "server_direction",
    ];

    /// The slot of a method's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "round" => Self::Round,
            "client_update" => Self::ClientUpdate,
            "aggregate" => Self::Aggregate,
            "direction" => Self::Direction,
            "data_loss" => Self::DataLoss,
            "penalty" => Self::Penalty,
            "personalize" => Self::Personalize,
            "server_direction" => Self::ServerDirection,
            _ => return None,
        })
    }

    /// Names and types of its parameters after `&self`, as `Algorithm` declares them.
    pub fn params(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Round => &[("server", "&ServerCx"), ("w", "Server<Params>")],
            Self::ClientUpdate | Self::Personalize => &[("k", "&ClientCx"), ("w", "Params")],
            Self::Aggregate => &[("server", "&ServerCx"), ("w_k", "Clients<Params>")],
            Self::Direction | Self::DataLoss => {
                &[("k", "&ClientCx"), ("w", "&Params"), ("b", "&Batch")]
            }
            Self::Penalty => &[("k", "&ClientCx"), ("w", "&Params")],
            Self::ServerDirection => &[
                ("s", "&ServerSide"),
                ("w", "&Params"),
                ("x", "&Features"),
                ("y", "&Labels"),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_slot() {
        assert!(Slot::NAMES.iter().all(|n| Slot::from_name(n).is_some()));
        assert_eq!(Slot::from_name("define"), None);
    }
}
