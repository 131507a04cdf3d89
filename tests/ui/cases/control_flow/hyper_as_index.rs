//! A hyper-parameter is a value of the graph, and no number of Rust; a number that is computed needs a name.
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
        let mut sum = models[self.chosen].clone();
        for j in 0..2 {
            sum += &models[j + 1];
        }
        sum
    }
}

fn main() {}
