//! A spec runs without a word more than its name.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    lr: f32,
}

fn main() {}
