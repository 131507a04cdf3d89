//! Values of clients are zipped for a map over them, and Rust's iterators are for lists.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let models = server.initial_models(&w, 2);
        let pairs: Vec<_> = models.iter().zip(&models).map(|(a, b)| a + b).collect();
        let w_k = w.broadcast(&server.sample(0.1));
        let n_k = w_k.map(|k, _| k.num_examples());
        let large = w_k.zip(&n_k).filter(|(_, n)| n);
        let all = w_k.zip(&n_k).zip(&n_k).into_iter();
        pairs[0].clone()
    }
}

fn main() {}
