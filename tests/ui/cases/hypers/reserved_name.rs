//! The name of an algorithm can be written in a command, and is none of fedround's own layers.
use fedround::prelude::*;

#[derive(Hyper)]
struct Personalized {}

#[derive(Hyper)]
#[hyper(name = "standard")]
struct Mine {}

#[derive(Hyper)]
#[hyper(name = "a.b")]
struct Other {}

fn main() {}
