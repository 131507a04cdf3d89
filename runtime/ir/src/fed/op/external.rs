//! `batch.*`, `nn.*`, `loss.*` and `fn.*`: ops that refer to something outside of the program by name.

use super::super::Kind;
use super::codec::{InName, ResultKind};
use crate::text::ops;

/// An op whose name ends with that of a dataset's column, a model's function, or a registered loss
/// or function.
#[derive(Clone, Debug, PartialEq)]
pub enum ExternalOp {
    /// `batch.NAME`: `(batch) -> tensor | labels`; a column of the batch: its inputs `x`, its class
    /// labels `y`, and what else the dataset has.
    Column(String, Kind),
    /// `nn.NAME`: `(params, tensor | labels | f32…) -> tensor`; a function of the model, such as its
    /// forward pass.
    Apply(String),
    /// `loss.NAME`: `(tensor | labels | f32…) -> f32`; a registered loss, traced from burn code.
    Loss(String),
    /// `fn.NAME`: `(tensor | labels | f32…) -> tensor`; a registered function, like a loss.
    Function(String),
}

ops! { ExternalOp {
    "batch." = Column [name: InName, kind: ResultKind];
    "nn." = Apply [name: InName];
    "loss." = Loss [name: InName];
    "fn." = Function [name: InName];
} }

impl ExternalOp {
    /// The name that it refers to: `cross_entropy` in `loss.cross_entropy`.
    pub fn target(&self) -> &str {
        match self {
            Self::Column(name, _) | Self::Apply(name) | Self::Loss(name) | Self::Function(name) => {
                name
            }
        }
    }
}
