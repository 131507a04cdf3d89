//! The attribute's place is the impl.
use fedround::prelude::*;

#[federated]
struct Mine {
}

fn main() {}
