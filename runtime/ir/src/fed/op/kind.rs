//! The kind of an op, and the properties that all ops have.

use super::super::{Hyper, HyperValue, Place};
use super::direction::Direction;
use super::effect::Effect;
use super::{ArithOp, ExternalOp, FedOp, OptOp, PrivacyOp, TreeOp};
use crate::text::attribute::{AttributeText, TextAttributes};

/// Which op it is. Each enum documents its ops by their signatures, `(operands) -> results`.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// `fed.*`: cohorts, what crosses, states, calls.
    Fed(FedOp),
    /// `arith.*`: numbers.
    Arith(ArithOp),
    /// `opt.*`: batches, rows, loops and gradients.
    Opt(OptOp),
    /// `batch.*`, `nn.*`, `loss.*` and `fn.*`: columns, models, losses and functions.
    External(ExternalOp),
    /// `tree.*`: parameters as vectors.
    Tree(TreeOp),
    /// `priv.*`: privacy.
    Privacy(PrivacyOp),
}

/// The conversions, and what is asked of whichever dialect an op is of.
macro_rules! dialects {
    ($($variant:ident($op:ident)),+) => {
        $(impl From<$op> for OpKind {
            fn from(op: $op) -> Self {
                Self::$variant(op)
            }
        })+

        impl OpKind {
            /// The names of all ops in text; of an [external](ExternalOp) one its prefix.
            pub fn names() -> impl Iterator<Item = &'static str> {
                let all: [&[&'static str]; _] = [$($op::NAMES),+];
                all.into_iter().flatten().copied()
            }

            fn table_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(op) => op.table_name(),)+
                }
            }

            /// Appends its attributes.
            pub(crate) fn write_attributes(&self, to: &mut AttributeText) {
                match self {
                    $(Self::$variant(op) => op.write_attributes(to),)+
                }
            }

            /// The op of a name, its attributes taken from the front; an error says what was
            /// expected instead, none of the name if no dialect has it.
            pub(crate) fn read_attributes(
                name: &str,
                from: &mut TextAttributes,
            ) -> Result<Option<Self>, String> {
                $(if let Some(op) = $op::read_attributes(name, from)? {
                    return Ok(Some(op.into()));
                })+
                Ok(None)
            }
        }
    };
}

dialects! {
    Fed(FedOp),
    Arith(ArithOp),
    Opt(OptOp),
    External(ExternalOp),
    Tree(TreeOp),
    Privacy(PrivacyOp)
}

impl OpKind {
    /// The place where it must run; `None` if it may run on the server and on clients.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Fed(op) => op.properties().place,
            Self::Opt(op) => op.place(),
            Self::Privacy(op) => op.place(),
            Self::External(ExternalOp::Column(..)) => Some(Place::Client),
            Self::External(
                ExternalOp::Apply(_) | ExternalOp::Loss(_) | ExternalOp::Function(_),
            )
            | Self::Arith(_)
            | Self::Tree(_) => None,
        }
    }

    /// What it does besides computing results.
    pub fn effect(&self) -> Effect {
        match self {
            Self::Fed(op) => op.properties().effect,
            Self::Opt(op) => op.effect(),
            Self::Privacy(op) => op.effect(),
            // A registered function may draw random numbers: its graph is not known here.
            Self::External(ExternalOp::Function(_)) => Effect::Draws,
            Self::Arith(_) | Self::External(_) | Self::Tree(_) => Effect::Pure,
        }
    }

    /// Which way it sends its operands between the server and the clients, if it does. A reduction or
    /// gather over values that the server has already sends nothing; see
    /// [`Module::uploaded`](super::super::Module::uploaded).
    pub fn direction(&self) -> Option<Direction> {
        match self {
            Self::Fed(op) => op.properties().direction,
            Self::Arith(_)
            | Self::Opt(_)
            | Self::External(_)
            | Self::Tree(_)
            | Self::Privacy(_) => None,
        }
    }

    /// Whether it concerns a whole cohort, so that it cannot be in the code of one client.
    pub fn is_collective(&self) -> bool {
        match self {
            Self::Fed(op) => op.properties().is_collective,
            Self::Privacy(op) => matches!(op, PrivacyOp::Claim(_) | PrivacyOp::TreeNoise),
            Self::Arith(_) | Self::Opt(_) | Self::External(_) | Self::Tree(_) => false,
        }
    }

    /// Whether its result is known before a round runs, on the server and on all clients. Only such
    /// values may be used in client code without a broadcast.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Fed(op) => matches!(op, FedOp::Hyper(_)),
            Self::Arith(op) => op.is_constant(),
            Self::Opt(_) | Self::External(_) | Self::Tree(_) | Self::Privacy(_) => false,
        }
    }

    /// The value of a literal, or of a hyper-parameter of `hypers`, the module's list.
    /// [`ConstEval`](super::super::ConstEval) computes arithmetic on such values.
    pub fn known(&self, hypers: &[Hyper]) -> Option<HyperValue> {
        match self {
            Self::Arith(ArithOp::Const(x)) => Some(HyperValue::Float(*x)),
            Self::Arith(ArithOp::IndexConst(n)) => Some(HyperValue::Int(*n)),
            Self::Fed(FedOp::Hyper(index)) => Some(hypers.get(*index)?.value.clone()),
            _ => None,
        }
    }

    /// The position of a loop's carried values; see [`OptOp::carried_from`].
    pub fn carried_from(&self) -> Option<(usize, usize)> {
        match self {
            Self::Opt(op) => op.carried_from(),
            Self::Fed(FedOp::InTurn) => Some((1, 1)),
            Self::Fed(_)
            | Self::Arith(_)
            | Self::External(_)
            | Self::Tree(_)
            | Self::Privacy(_) => None,
        }
    }

    /// The name in text, such as `tree.sq_norm`.
    pub fn name(&self) -> String {
        match self {
            Self::External(op) => format!("{}{}", op.table_name(), op.target()),
            kind => kind.table_name().to_owned(),
        }
    }

    /// The start of the names of ops that a name ends, such as `loss.` of `loss.cross_entropy`.
    pub(crate) fn prefixes() -> impl Iterator<Item = &'static str> {
        ExternalOp::NAMES.iter().copied()
    }

    /// The word between its operands.
    pub(crate) fn separator(&self) -> &'static str {
        match self {
            Self::Fed(FedOp::Broadcast | FedOp::Dispatch | FedOp::Scatter) => "to",
            Self::Fed(FedOp::Restrict) => "of",
            Self::Fed(FedOp::Reduce(_) | FedOp::Gather | FedOp::Split(_)) => "by",
            _ => ",",
        }
    }

    /// How many operands stand before the `with(..)` of an op whose region is a loop's body.
    pub(crate) fn controls(&self) -> Option<usize> {
        match self {
            // It carries nothing.
            Self::Opt(OptOp::Collect) => Some(2),
            kind => kind.carried_from().map(|(operands, _)| operands),
        }
    }

    /// What ends its region.
    pub(crate) fn terminator(&self) -> &'static str {
        match self {
            Self::Fed(FedOp::Map) => FUNC_END,
            _ => LOOP_END,
        }
    }
}

/// What ends the body of a loop or a gradient.
pub(crate) const LOOP_END: &str = "opt.yield";

/// What ends a function, and the code of a client.
pub(crate) const FUNC_END: &str = "fed.yield";
