//! Weights that the server computed are no weights of values that are on the clients.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine;

#[federated]
impl Algorithm for Mine {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let n_k = w_k.map(|k, _| k.num_examples()).gather();
        w_k.weighted_mean_by(&n_k.map(|_, n| n.sqrt()))
    }
}

fn main() {}
