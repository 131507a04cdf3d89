//! The hooks of an algorithm: the methods of `Algorithm` that a spec may define.

/// A method of `Algorithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// One round, on the server.
    Round,
    /// What a client does in a round.
    ClientUpdate,
    /// How the clients' results become the server's.
    Aggregate,
    /// The direction of a local step.
    Gradient,
    /// The loss on a batch.
    Loss,
    /// What is added to the loss.
    Regularizer,
    /// The model that a client uses.
    Personalize,
    /// The direction of a step of the server's.
    ServerGradient,
}

impl Hook {
    /// All hooks' names, as in [`Hook::from_name`].
    pub const NAMES: [&'static str; 8] = [
        "round",
        "client_update",
        "aggregate",
        "gradient",
        "loss",
        "regularizer",
        "personalize",
        "server_gradient",
    ];

    /// The hook of a method's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "round" => Self::Round,
            "client_update" => Self::ClientUpdate,
            "aggregate" => Self::Aggregate,
            "gradient" => Self::Gradient,
            "loss" => Self::Loss,
            "regularizer" => Self::Regularizer,
            "personalize" => Self::Personalize,
            "server_gradient" => Self::ServerGradient,
            _ => return None,
        })
    }

    /// Names and types of its parameters after `&self`, as `Algorithm` declares them.
    pub fn params(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Round => &[("server", "&ServerCx"), ("w", "Server<Params>")],
            Self::ClientUpdate | Self::Personalize => &[("k", "&ClientCx"), ("w", "Params")],
            Self::Aggregate => &[("server", "&ServerCx"), ("w_k", "Clients<Params>")],
            Self::Gradient | Self::Loss => &[("k", "&ClientCx"), ("w", "&Params"), ("b", "&Batch")],
            Self::Regularizer => &[("k", "&ClientCx"), ("w", "&Params")],
            Self::ServerGradient => &[
                ("s", "&ServerSide"),
                ("w", "&Params"),
                ("x", "&Tensor"),
                ("y", "&Labels"),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_hook() {
        assert!(Hook::NAMES.iter().all(|n| Hook::from_name(n).is_some()));
        assert_eq!(Hook::from_name("define"), None);
    }
}
