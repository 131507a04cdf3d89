//! The meaning of the syntax: hooks, loops with the variables that they carry, uses of `self`, fields.

mod body;
mod hook;
mod hyper;
mod names;
mod scope;
mod self_use;
mod spec;

pub use body::{Body, Loop, Resolution, SelfRef, Target, block_body, lent_variable, named_turns};
pub use hook::{HOOKS, Hook};
pub use hyper::{FieldType, HyperField, Hypers, base_name, hypers, key, number, string};
pub use names::Names;
pub use scope::bound_names;
pub use self_use::{SelfUse, classify};
pub use spec::{HookImpl, Spec, params, spec};
