//! An enum of hyper-parameters has words, and nothing in them.
use fedround::prelude::*;

#[derive(Hyper)]
enum Mine {
    Small(usize),
}

fn main() {}
