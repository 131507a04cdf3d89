//! Times the compiled step with mimalloc as the allocator, as in fedround's own binaries.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

#[path = "step/mod.rs"]
mod shared;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    shared::main("mimalloc");
}
