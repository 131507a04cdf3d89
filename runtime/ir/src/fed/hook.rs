//! Names and signatures of the hooks: one table, from which the rest follows.

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

const CLIENT: Type = Type::client(Kind::Client);
const PARAMS: Type = Type::client(Kind::Params);
const BATCH: Type = Type::client(Kind::Batch);
const SCALAR: Type = Type::client(Kind::Scalar);
const GLOBAL: Type = Type::server(Kind::Params);
const ROWS: Type = Type::server(Kind::Tensor);
const LABELS: Type = Type::server(Kind::Labels);
const TRAINED: Type = Type::clients(Kind::Params);

/// A hook's name in specs, where its code runs, its arguments and its result.
macro_rules! hooks {
    ($($hook:ident = $name:literal on $place:ident ($($arg:literal: $ty:ident),*) -> $result:ident;)*) => {
        impl Hook {
            /// Every hook, from the server's loop body inwards.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$hook),*];

            /// Its name in specs and in text, such as `client_update`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$hook => $name),* }
            }

            /// Types of its arguments and of its results.
            pub const fn signature(self) -> (&'static [Type], &'static [Type]) {
                match self { $(Self::$hook => (&[$($ty),*], &[$result])),* }
            }

            /// Names of its arguments in text, one for each type of [`Hook::signature`].
            pub const fn arg_names(self) -> &'static [&'static str] {
                match self { $(Self::$hook => &[$($arg),*]),* }
            }

            /// Where its code runs: [`Place::Server`] or [`Place::Client`].
            pub const fn place(self) -> Place {
                match self { $(Self::$hook => Place::$place),* }
            }
        }
    };
}

hooks! {
    Round = "round" on Server("w": GLOBAL) -> GLOBAL;
    ClientUpdate = "client_update" on Client("k": CLIENT, "w": PARAMS) -> PARAMS;
    Aggregate = "aggregate" on Server("w_k": TRAINED) -> GLOBAL;
    Gradient = "gradient" on Client("k": CLIENT, "w": PARAMS, "b": BATCH) -> PARAMS;
    Loss = "loss" on Client("k": CLIENT, "w": PARAMS, "b": BATCH) -> SCALAR;
    Regularizer = "regularizer" on Client("k": CLIENT, "w": PARAMS) -> SCALAR;
    Personalize = "personalize" on Client("k": CLIENT, "w": PARAMS) -> PARAMS;
    ServerGradient = "server_gradient" on Server("w": GLOBAL, "x": ROWS, "y": LABELS) -> GLOBAL;
}

impl Hook {
    /// The hook of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }

    /// Whether a hook has an argument of this name.
    pub fn names_argument(name: &str) -> bool {
        Self::ALL
            .iter()
            .any(|hook| hook.arg_names().contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names = Hook::ALL.map(Hook::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
