//! Values without their keys, and a key without its value.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(0.1)]
    lr: f32,
    #[hyper(default)]
    mu: f32,
}

fn main() {}
