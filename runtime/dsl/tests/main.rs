//! The language of algorithms: hyper-parameters, the registry, and what specs are staged to.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

extern crate fedround_dsl as fedround;

mod common;
mod hyper;
mod stage;
