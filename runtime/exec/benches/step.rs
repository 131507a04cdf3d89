//! The compiled step with mimalloc, as fedround's own binaries run.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

#[path = "step/mod.rs"]
mod shared;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    shared::main("mimalloc");
}
