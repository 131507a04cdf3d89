//! The same with the system's allocator, as burn users run by default.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

#[path = "step/mod.rs"]
mod shared;

fn main() {
    shared::main("system");
}
