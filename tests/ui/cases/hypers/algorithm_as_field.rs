//! An algorithm that another one is added to is a type parameter.
use fedround::prelude::*;

struct Inner;

#[derive(Hyper)]
struct Mine {
    base: Inner,
}

fn main() {}
