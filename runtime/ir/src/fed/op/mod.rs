//! Ops and regions of the fed dialect.
//!
//! There is one enum for each prefix of op names. Each is in its own file, with the documentation of
//! the ops, their text form, and properties that passes ask for.

mod arith;
mod choice;
mod codec;
mod direction;
mod effect;
mod encoding;
mod external;
mod fed;
mod fed_properties;
mod kind;
mod opt;
mod privacy;
mod reduce;
mod state_access;
mod topology;
mod tree;
mod walk;

pub use arith::{ArithOp, Math};
pub use choice::Choice;
pub use direction::Direction;
pub use effect::Effect;
pub use encoding::Encoding;
pub use external::ExternalOp;
pub use fed::FedOp;
pub use kind::OpKind;
pub use opt::OptOp;
pub use privacy::{Dp, PrivacyOp};
pub use reduce::{Pairwise, Reduce};
pub use state_access::{Access, StateUse};
pub use topology::Topology;
pub use tree::TreeOp;

pub(super) use kind::{FUNC_END, LOOP_END};

use super::Value;
use crate::Loc;

/// An op with its operands, results and regions.
#[derive(Clone, Debug)]
pub struct Op {
    /// Which op it is.
    pub kind: OpKind,
    /// The values that it reads.
    pub operands: Vec<Value>,
    /// The values that it defines.
    pub results: Vec<Value>,
    /// Nested code. [`OpKind`] says which ops have it.
    pub regions: Vec<Region>,
    /// The place where the user wrote it.
    pub loc: Loc,
}

impl Op {
    /// The values that gradients in this op are taken with respect to. In training, a forward pass
    /// in such a gradient advances the buffers of its value.
    pub fn differentiated(&self) -> Vec<Value> {
        self.with_inner().filter_map(Self::point).collect()
    }

    /// Whether it is part of a visit: it sends every value of one cohort to each client of another, or
    /// returns the results.
    pub fn visits(&self) -> bool {
        matches!(self.kind, OpKind::Fed(FedOp::Scatter | FedOp::Gather)) && self.operands.len() > 1
    }
}

/// A block of ops with arguments and yielded values.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// The values that are defined on entry.
    pub args: Vec<Value>,
    /// The ops in order.
    pub ops: Vec<Op>,
    /// The values that are passed to the surrounding op.
    pub yields: Vec<Value>,
}
