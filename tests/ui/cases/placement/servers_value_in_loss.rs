//! A loss is of plain values: those of the server are read in `server.run`.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let z = server.tensor_state("z");
        server.run(|s| loss("mse", (&z, &z)) * s.get(&w))
    }
}

fn main() {}
