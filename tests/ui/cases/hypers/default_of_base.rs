//! The base has its own defaults, and a default base has a name in commands.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine<A> {
    #[hyper(default = 1.0)]
    base: A,
}

#[derive(Hyper)]
struct Other<A = Option<(f32, f32)>> {
    base: A,
}

fn main() {}
