//! Names and signatures of the hooks.

use super::{Kind, Place, Type};

/// The parts of an algorithm that a plug-in may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hook {
    /// `(params@server) -> params@server`: the server's loop body.
    Round,
    /// `(client, params) -> params`: local training.
    ClientUpdate,
    /// `({params}@clients) -> params@server`.
    Aggregate,
    /// `(client, params, batch) -> params`: the direction that a step descends.
    Gradient,
    /// `(client, params, batch) -> f32`.
    Loss,
    /// `(client, params) -> f32`: what is added to the data loss.
    Regularizer,
    /// `(client, params) -> params`: the model that a client uses, made of the global one.
    Personalize,
    /// `(params, tensor, labels) -> params` on the server: the direction that a step on rows descends.
    ServerGradient,
}

impl Hook {
    /// Every hook, from the server's loop body inwards.
    pub const ALL: [Self; 8] = [
        Self::Round,
        Self::ClientUpdate,
        Self::Aggregate,
        Self::Gradient,
        Self::Loss,
        Self::Regularizer,
        Self::Personalize,
        Self::ServerGradient,
    ];

    /// The hook of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }

    /// Its name in specs and in text, such as `client_update`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::ClientUpdate => "client_update",
            Self::Aggregate => "aggregate",
            Self::Gradient => "gradient",
            Self::Loss => "loss",
            Self::Regularizer => "regularizer",
            Self::Personalize => "personalize",
            Self::ServerGradient => "server_gradient",
        }
    }

    /// Types of its arguments and of its results.
    pub const fn signature(self) -> (&'static [Type], &'static [Type]) {
        const CLIENT: Type = Type::client(Kind::Client);
        const PARAMS: Type = Type::client(Kind::Params);
        const BATCH: Type = Type::client(Kind::Batch);
        const SCALAR: Type = Type::client(Kind::Scalar);
        const GLOBAL: Type = Type::server(Kind::Params);
        const ROWS: Type = Type::server(Kind::Tensor);
        const LABELS: Type = Type::server(Kind::Labels);
        const TRAINED: Type = Type::clients(Kind::Params);
        match self {
            Self::Round => (&[GLOBAL], &[GLOBAL]),
            Self::ClientUpdate | Self::Personalize => (&[CLIENT, PARAMS], &[PARAMS]),
            Self::Aggregate => (&[TRAINED], &[GLOBAL]),
            Self::Gradient => (&[CLIENT, PARAMS, BATCH], &[PARAMS]),
            Self::Loss => (&[CLIENT, PARAMS, BATCH], &[SCALAR]),
            Self::Regularizer => (&[CLIENT, PARAMS], &[SCALAR]),
            Self::ServerGradient => (&[GLOBAL, ROWS, LABELS], &[GLOBAL]),
        }
    }

    /// Names of its arguments in text, one for each type of [`Hook::signature`].
    pub const fn arg_names(self) -> &'static [&'static str] {
        match self {
            Self::Round => &["w"],
            Self::ClientUpdate | Self::Regularizer | Self::Personalize => &["k", "w"],
            Self::Aggregate => &["w_k"],
            Self::Gradient | Self::Loss => &["k", "w", "b"],
            Self::ServerGradient => &["w", "x", "y"],
        }
    }

    /// Whether a hook has an argument of this name.
    pub fn names_argument(name: &str) -> bool {
        Self::ALL
            .iter()
            .any(|hook| hook.arg_names().contains(&name))
    }

    /// Where its code runs: [`Place::Server`] or [`Place::Client`].
    pub const fn place(self) -> Place {
        match self {
            Self::Round | Self::Aggregate | Self::ServerGradient => Place::Server,
            Self::ClientUpdate
            | Self::Gradient
            | Self::Loss
            | Self::Regularizer
            | Self::Personalize => Place::Client,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_names_its_arguments() {
        for hook in Hook::ALL {
            assert_eq!(
                hook.signature().0.len(),
                hook.arg_names().len(),
                "{}",
                hook.name()
            );
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names = Hook::ALL.map(Hook::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
