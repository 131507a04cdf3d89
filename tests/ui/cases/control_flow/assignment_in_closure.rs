//! What a closure assigns cannot be seen outside of it.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut sum = w.clone();
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            sum = k.global_params();
            w
        });
        sum
    }
}

fn main() {}
