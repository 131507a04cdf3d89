//! Errors of the pass manager.

use fedround_ir::fed::VerifyErrors;
use fedround_ir::tensor::GraphError;
use fedround_names::{did_you_mean, nearest};

use crate::fed::LinkError;

/// Why a pass could not finish.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PassError {
    /// The module breaks a rule of the fed dialect.
    #[error("{when}:\n{errors}")]
    Verify {
        /// Before or after which pass; of the algorithm as it is linked, that it is not valid.
        when: String,
        /// The broken rules.
        errors: VerifyErrors,
    },
    /// Hooks cannot be bound.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Link(Vec<LinkError>),
    /// The graph breaks a rule of the tensor dialect.
    #[error("{when}: {source}")]
    Graph {
        /// Before, in or after which pass.
        when: String,
        /// The broken rule.
        source: Box<GraphError>,
    },
    /// A list of passes has a wrong name or number.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Why a pass cannot be run as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No pass has this name.
    #[error(
        "unknown {dialect} pass `{name}`{}; the passes are {known}",
        did_you_mean(*nearest)
    )]
    Unknown {
        /// The name.
        name: String,
        /// The dialect.
        dialect: &'static str,
        /// The closest known name.
        nearest: Option<&'static str>,
        /// All known names.
        known: String,
    },
    /// A number is missing or too many.
    #[error("pass `{pass}`: expected {expected}, found {found}")]
    Number {
        /// The pass.
        pass: &'static str,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
}

impl RequestError {
    pub(crate) fn unknown(name: &str, dialect: &'static str, known: Vec<&'static str>) -> Self {
        Self::Unknown {
            name: name.to_owned(),
            dialect,
            nearest: nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    }
}
