//! The same with the system's allocator, as burn users run by default.

#[path = "step/mod.rs"]
mod shared;

fn main() {
    shared::main("system");
}
