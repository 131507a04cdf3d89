//! The nearest key.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(defualt = 0.1)]
    lr: f32,
}

fn main() {}
