//! What a command line can set.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 1)]
    layers: Vec<usize>,
    #[hyper(default = 1)]
    epochs: f32,
}

fn main() {}
