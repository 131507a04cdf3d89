//! A tuple has up to 12 values.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let many = w.broadcast(&server.all_clients()).map(|k, w| {
            let n = || k.num_examples();
            (w, n(), n(), n(), n(), n(), n(), n(), n(), n(), n(), n(), n())
        });
        many.0.mean()
    }
}

fn main() {}
