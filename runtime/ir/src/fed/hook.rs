//! The hooks: their names, arguments and places, in one table.

use super::{Kind, Place, Type};

/// A part of an algorithm that a plug-in may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hook {
    /// `(params@server) -> params@server`: one round, from global parameters to the next ones.
    Round,
    /// `(client, params) -> params`: local training.
    ClientUpdate,
    /// `({params}@clients) -> params@server`: the mean of what the clients trained.
    Aggregate,
    /// `(client, params, batch) -> params`: the gradient that a local step follows.
    Gradient,
    /// `(client, params, batch) -> f32`: the loss on a batch.
    Loss,
    /// `(client, params) -> f32`: a term that is added to the loss.
    Regularizer,
    /// `(client, params) -> params`: the client's own model, made from the global one.
    Personalize,
    /// `(params@server) -> {params}@clients`: the models on which clients are evaluated.
    Evaluate,
    /// `(params, tensor, labels) -> params` on the server: the gradient that a step on rows follows.
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

/// Generates the functions of [`Hook`] from a table: the hook's name in algorithms, the place where it
/// runs, its arguments and its result.
macro_rules! hooks {
    ($($hook:ident = $name:literal on $place:ident ($($arg:literal: $ty:ident),*) -> $result:ident;)*) => {
        impl Hook {
            /// All hooks. The outermost, `round`, comes first.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$hook),*];

            /// The name in algorithms and in text, such as `client_update`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$hook => $name),* }
            }

            /// The types of the arguments and of the results.
            pub const fn signature(self) -> (&'static [Type], &'static [Type]) {
                match self { $(Self::$hook => (&[$($ty),*], &[$result])),* }
            }

            /// The names of the arguments in text, one for each type of [`Hook::signature`].
            pub const fn arg_names(self) -> &'static [&'static str] {
                match self { $(Self::$hook => &[$($arg),*]),* }
            }

            /// Where the hook runs: [`Place::Server`] or [`Place::Client`].
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
    Evaluate = "evaluate" on Server("w": GLOBAL) -> TRAINED;
    ServerGradient = "server_gradient" on Server("w": GLOBAL, "x": ROWS, "y": LABELS) -> GLOBAL;
}

impl Hook {
    /// The hook with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }

    /// Whether some hook has an argument with this name.
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
