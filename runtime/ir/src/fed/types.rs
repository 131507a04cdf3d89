//! Values and their placed types.

use std::fmt;

/// An SSA value of a [`Module`](super::Module): an index into its table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// What a value is, wherever it is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A model's parameters: a tree of float tensors.
    Params,
    /// A real number.
    Scalar,
    /// A count known before the round runs, such as a number of epochs.
    Index,
    /// A float tensor that is derived from examples: inputs, features or logits.
    Tensor,
    /// Class labels.
    Labels,
    /// A mini-batch of examples: inputs and labels.
    Batch,
    /// A client, in client code.
    Client,
    /// The clients selected for a round.
    Cohort,
}

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// One value, on the server.
    Server,
    /// One value for each client of a cohort, on the clients.
    Clients,
    /// One value for each client of a cohort, on the server.
    Gathered,
    /// One value inside client code, on the client that runs it.
    Client,
}

/// A kind with its placement, printed `params@server`, `{params}@clients`, `{params}@server` or
/// `params`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
}

impl Type {
    /// A value on the server.
    pub const fn server(kind: Kind) -> Self {
        Self {
            kind,
            place: Place::Server,
        }
    }

    /// One value for each client of a cohort.
    pub const fn clients(kind: Kind) -> Self {
        Self {
            kind,
            place: Place::Clients,
        }
    }

    /// One value for each client of a cohort, on the server.
    pub const fn gathered(kind: Kind) -> Self {
        Self {
            kind,
            place: Place::Gathered,
        }
    }

    /// A value inside client code.
    pub const fn client(kind: Kind) -> Self {
        Self {
            kind,
            place: Place::Client,
        }
    }
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Params,
        Self::Scalar,
        Self::Index,
        Self::Tensor,
        Self::Labels,
        Self::Batch,
        Self::Client,
        Self::Cohort,
    ];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Scalar => "f32",
            Self::Index => "index",
            Self::Tensor => "tensor",
            Self::Labels => "labels",
            Self::Batch => "batch",
            Self::Client => "client",
            Self::Cohort => "cohort",
        }
    }

    /// Whether it is features or labels, with one row per example. Their number is known only at run time.
    pub const fn has_rows(self) -> bool {
        matches!(self, Self::Tensor | Self::Labels)
    }

    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind;
        match self.place {
            Place::Server => write!(f, "{kind}@server"),
            Place::Clients => write!(f, "{{{kind}}}@clients"),
            Place::Gathered => write!(f, "{{{kind}}}@server"),
            Place::Client => write!(f, "{kind}"),
        }
    }
}
