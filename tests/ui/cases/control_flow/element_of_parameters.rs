//! Elements of lists have numbers, entries of parameters have none.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 3, range = 1..)]
    models: usize,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let models = server.initial_models(&w, self.models);
        let mut sum = models[0].clone();
        for j in 0..self.models {
            sum += &models[j];
        }
        sum + &w[0..2]
    }
}

fn main() {}
