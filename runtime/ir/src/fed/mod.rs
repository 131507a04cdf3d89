//! The fed dialect: a federated algorithm as a placed, structured SSA program.
//!
//! A spec is staged into a [`Module`] by a [`Builder`], checked by [`verify`], printed by
//! [`print()`] and [`print_exact`], read by [`parse()`] and compared by [`equal`]. Before `link-hooks` a module holds one [`Func`] for each
//! hook and layer, which refer to each other by `fed.call` and `fed.super`; afterwards it holds
//! one `fed.round` with everything inlined, which [`verify_linked`] checks.

mod builder;
mod checks;
mod equal;
mod flow;
mod hook;
mod hyper;
mod module;
mod op;
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

pub use builder::{BuildError, Builder};
pub use equal::{difference, equal};
pub use flow::{Analysis, Facts, solve};
pub use hook::Hook;
pub use hyper::{Hyper, HyperValue};
pub use module::{Func, Layer, Module};
pub use op::{
    ArithOp, Dp, Effect, ExternalOp, FedOp, Math, Op, OpKind, OptOp, PrivacyOp, Reduce, Region,
    TreeOp,
};
pub use parse::parse;
pub use print::{print, print_exact, print_with_locations};
pub use privacy::{Exposure, Privacy};
pub use signature::{RegionSignature, Signature, signature};
pub use types::{Kind, Place, Type, Value};
pub use verify::{verify, verify_linked};
pub use verify_error::{Broken, VerifyError, VerifyErrors};
