//! Flower's protobuf messages, as far as fedround uses them.
//!
//! Names, numbers and types are Flower's, so that `tests/descriptors.rs` can compare this folder
//! with an installed Flower. Fields that fedround never reads or writes are left out: a decoder of
//! protobuf skips them.

pub(crate) mod control;
pub(crate) mod fleet;
pub(crate) mod message;
pub(crate) mod node;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod runtime;
