//! The default is in the range.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 1.5, range = 0.0..=1.0)]
    fraction: f32,
}

fn main() {}
