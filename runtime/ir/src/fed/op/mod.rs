//! Ops and regions: what a program of the fed dialect is made of.
//!
//! The ops are in one enum for each prefix of their names, each in a file with its docs, its text
//! form and what a pass may know of it.

mod arith;
mod codec;
mod effect;
mod external;
mod fed;
mod kind;
mod opt;
mod privacy;
mod tree;

pub use arith::{ArithOp, Math};
pub use effect::Effect;
pub use external::ExternalOp;
pub use fed::{FedOp, Reduce};
pub use kind::OpKind;
pub use opt::OptOp;
pub use privacy::{Dp, PrivacyOp};
pub use tree::TreeOp;

pub(super) use kind::FUNC_END;

use super::Value;
use crate::Loc;

/// One op: what, on which values, with which regions, from where.
#[derive(Clone, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Values it reads.
    pub operands: Vec<Value>,
    /// Values it defines.
    pub results: Vec<Value>,
    /// Nested code; see [`OpKind`] for which ops have it.
    pub regions: Vec<Region>,
    /// Where the user wrote it.
    pub loc: Loc,
}

impl Op {
    /// The values that gradients in this op are taken with respect to. In training, a forward pass
    /// in such a gradient advances the buffers of its value.
    pub fn differentiated(&self) -> Vec<Value> {
        let own = self
            .operands
            .first()
            .filter(|_| self.kind == OpKind::Opt(OptOp::Grad));
        let inner = self.regions.iter().flat_map(|region| &region.ops);
        own.copied()
            .into_iter()
            .chain(inner.flat_map(Self::differentiated))
            .collect()
    }

    /// Whether it takes every value of a cohort to each client of another, or brings back what it
    /// became there.
    pub fn visits(&self) -> bool {
        matches!(self.kind, OpKind::Fed(FedOp::Scatter | FedOp::Gather)) && self.operands.len() > 1
    }
}

/// A block of ops with arguments, ended by the values it yields.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Values defined on entry.
    pub args: Vec<Value>,
    /// Ops in order.
    pub ops: Vec<Op>,
    /// Values given to the parent op.
    pub yields: Vec<Value>,
}
