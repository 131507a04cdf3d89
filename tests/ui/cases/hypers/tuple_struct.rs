//! Hyper-parameters have names.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine(f32);

fn main() {}
