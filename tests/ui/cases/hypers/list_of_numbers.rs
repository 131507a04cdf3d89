//! A command line gives one value for each name.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = vec![])]
    rates: Vec<f32>,
    #[hyper(default = 1.0)]
    pair: [f32; 2],
}

fn main() {}
