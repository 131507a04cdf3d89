//! Errors of lowering a segment to a tensor graph.

use fedround_ir::Loc;
use fedround_ir::tensor::{GraphError, TypeError};

use super::frontend::FrontendError;
use crate::autodiff::GradError;

/// Why a segment could not be lowered.
#[derive(Debug, thiserror::Error)]
pub enum LowerError {
    /// A gradient could not be computed.
    #[error(transparent)]
    Grad(#[from] GradError),
    /// Shapes do not fit together, for instance those of a model and a loss.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// An invariant of the graph broke.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The model or a loss could not be traced.
    #[error("{loc}: {source}")]
    Frontend {
        /// The line of the spec that uses it.
        loc: Loc,
        /// What went wrong.
        source: FrontendError,
    },
    /// The algorithm names a part that the model does not have.
    #[error("{loc}: the model has no part `{part}`; it has {}", .known.join(", "))]
    UnknownPart {
        /// What was asked for.
        part: String,
        /// First segments of the paths of the model's parameters.
        known: Vec<String>,
        /// The line of the spec.
        loc: Loc,
    },
    /// An op cannot be computed by a tensor graph here.
    #[error("{loc}: `{op}` cannot be computed on tensors here")]
    Unsupported {
        /// The op.
        op: String,
        /// The line of the spec.
        loc: Loc,
    },
}
