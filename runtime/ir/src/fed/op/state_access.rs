//! States, and how operations use them.

use super::super::{Place, Value};
use super::{Op, OpKind};

/// How an op uses a state; see [`OpKind::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateUse<'a> {
    /// The name of the state, with its layer.
    pub name: &'a str,
    /// Who has it: the server, or each client one of its own.
    pub place: Place,
    /// What is done with it.
    pub access: Access,
}

/// What an op does with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads the state, which is zero before it is first set.
    Read,
    /// It reads the state, or its last operand if the state was never set.
    ReadOr,
    /// It sets the state to its last operand.
    Set,
}

impl StateUse<'_> {
    /// Whether the op sets the state; otherwise it reads it.
    pub fn sets(&self) -> bool {
        self.access == Access::Set
    }
}

impl OpKind {
    /// The state that it reads or sets.
    pub fn state(&self) -> Option<StateUse<'_>> {
        match self {
            Self::Fed(op) => op.properties().state,
            Self::Arith(_)
            | Self::Opt(_)
            | Self::External(_)
            | Self::Tree(_)
            | Self::Privacy(_) => None,
        }
    }
}

impl Op {
    /// The state that this op uses, with the value that it reads from it or writes to it.
    pub fn state_and_value(&self) -> Option<(StateUse<'_>, Value)> {
        let state = self.kind.state()?;
        let value = match state.access {
            Access::Read | Access::ReadOr => self.results.first(),
            Access::Set => self.operands.last(),
        };
        Some((state, *value?))
    }
}
