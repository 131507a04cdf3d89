//! Times the compiled step with the system's allocator, the default of programs that use burn.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

#[path = "step/mod.rs"]
mod shared;

fn main() {
    shared::main("system");
}
