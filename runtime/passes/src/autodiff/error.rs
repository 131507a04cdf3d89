//! Errors of differentiation.

use fedround_ir::Loc;
use fedround_ir::tensor::TypeError;

/// A gradient could not be formed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GradError {
    /// An op between the parameters and the loss has no gradient rule.
    #[error(
        "{loc}: `tensor.{op}` has no gradient rule, and the loss depends on the parameters through it"
    )]
    NoRule {
        /// The op.
        op: &'static str,
        /// The line of the spec that it comes from.
        loc: Loc,
    },
    /// The value to differentiate is no scalar.
    #[error("{loc}: only a scalar can be differentiated, found a tensor of shape {shape:?}")]
    NotScalar {
        /// Shape of the value.
        shape: Vec<usize>,
        /// The line that asks for the gradient.
        loc: Loc,
    },
    /// A rule built an ill-typed node.
    #[error(transparent)]
    Type(#[from] TypeError),
}
