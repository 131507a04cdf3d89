//! A state is a value of the graph.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        k.set_state("steps", &1.0);
        k.scalar_state("steps") * w
    }
}

fn main() {}
