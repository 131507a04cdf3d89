//! The compiled step with mimalloc, as fedround's own binaries run.

#[path = "step/mod.rs"]
mod shared;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    shared::main("mimalloc");
}
