//! Tensors of features are derived from examples: they leave a client by `release` only.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let z_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let b = k.batch(10);
            k.forward(&w, &b.x)
        });
        w
    }
}

fn main() {}
