//! Each word means one variant.
use fedround::prelude::*;

#[derive(Hyper, Clone)]
enum Rule {
    Adam,
    #[hyper(word = "adam")]
    Yogi,
}

fn main() {}
