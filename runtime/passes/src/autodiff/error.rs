//! Errors of differentiating a graph.

use fedround_ir::Loc;
use fedround_ir::tensor::TypeError;

/// Why a gradient could not be computed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GradError {
    /// An op between the parameters and the loss has no gradient rule.
    #[error(
        "{loc}: `tensor.{op}` has no gradient rule, and the loss depends on the parameters through it"
    )]
    NoRule {
        /// The op.
        op: &'static str,
        /// The place in the algorithm that it comes from.
        loc: Loc,
    },
    /// The value to differentiate is not a scalar.
    #[error("{loc}: only a scalar can be differentiated, found a tensor of shape {shape:?}")]
    NotScalar {
        /// Shape of the value.
        shape: Vec<usize>,
        /// The place that asks for the gradient.
        loc: Loc,
    },
    /// A rule built an ill-typed node.
    #[error(transparent)]
    Type(#[from] TypeError),
}
