//! An algorithm is added to one other.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine<A, B> {
    base: A,
    other: B,
}

fn main() {}
