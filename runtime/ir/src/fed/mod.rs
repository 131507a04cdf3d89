//! The fed dialect: a federated algorithm as a placed, structured SSA program.
//!
//! A [`Builder`] makes a [`Module`] when an algorithm is staged. [`verify`] checks a module, [`print()`]
//! and [`print_exact`] print it, [`parse()`] reads it, and [`equal`] compares two of them.
//!
//! Before the pass `link-hooks`, a module has one [`Func`] per hook and layer, and these refer to each
//! other by `fed.call` and `fed.super`. After it, the module has one `fed.round` with everything
//! inlined. [`verify_linked`] checks a module in that form.

mod build_error;
mod builder;
mod checks;
mod const_eval;
mod equal;
mod flow;
mod hook;
mod hyper;
mod module;
mod names;
mod op;
mod operand_kinds;
mod parse;
mod parse_module;
mod parse_op;
mod print;
mod privacy;
mod signature;
mod types;
mod verify;
mod verify_error;
mod verify_ops;
mod verify_values;

pub use build_error::BuildError;
pub use builder::Builder;
pub use checks::never_set;
pub use const_eval::ConstEval;
pub use equal::{difference, equal};
pub use flow::{Analysis, Facts, solve};
pub use hook::Hook;
pub use hyper::{Hyper, HyperValue};
pub use module::{Func, Layer, Module};
pub use names::{LocalName, NameUse};
pub use op::{
    Access, ArithOp, Choice, Direction, Dp, Effect, Encoding, ExternalOp, FedOp, Math, Op, OpKind,
    OptOp, Pairwise, PrivacyOp, Reduce, Region, StateUse, Topology, TreeOp,
};
pub use parse::parse;
pub use print::{print, print_exact};
pub use privacy::{Exposure, Privacy};
pub use signature::{RegionSignature, Signature, signature};
pub use types::{Kind, Place, Type, Value};
pub use verify::{verify, verify_linked};
pub use verify_error::{Broken, VerifyError, VerifyErrors};
