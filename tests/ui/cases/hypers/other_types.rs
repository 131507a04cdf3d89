//! Counts are of one type, and every hyper-parameter has a value.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 1)]
    epochs: u64,
    #[hyper(default = None)]
    bound: Option<f32>,
}

fn main() {}
