//! The command `fedround` with one more algorithm.

mod lookahead;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use fedround::prelude::BoxedAlgorithm;
use fedround_cli::Cli;
use lookahead::Lookahead;

// Without it a small model's step is several times slower on Linux.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Cli::new().with::<Lookahead<BoxedAlgorithm>>().main()
}
