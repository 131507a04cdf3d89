//! The command `fedround` with the bundled algorithms.

use std::process::ExitCode;

// glibc's malloc page-faults large tensors anew at every step, which makes a small model's step
// several times slower.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fedround_cli::main()
}
