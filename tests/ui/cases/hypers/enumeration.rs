//! Hyper-parameters are a struct.
use fedround::prelude::*;

#[derive(Hyper)]
enum Mine {
    Small,
}

fn main() {}
