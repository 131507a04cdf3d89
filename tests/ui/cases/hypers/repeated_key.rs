//! Each key once.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1, default = 0.2)]
    lr: f32,
}

fn main() {}
