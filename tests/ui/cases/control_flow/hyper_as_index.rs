//! A hyper-parameter is a value of the graph, and no number of Rust.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 3, range = 1..)]
    models: usize,
    #[hyper(default = 0)]
    chosen: usize,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let models = server.initial_models(&w, self.models);
        models[self.chosen].clone()
    }
}

fn main() {}
