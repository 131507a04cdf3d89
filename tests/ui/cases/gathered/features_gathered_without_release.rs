//! Representations leave their clients by `release`, also to be gathered.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let z_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| k.forward(&w, &k.batch(10).x));
        let _ = z_k.gather().concat();
        w
    }
}

fn main() {}
