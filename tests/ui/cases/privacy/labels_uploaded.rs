//! Labels have no `release`: nothing on the server could be made of them.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let y_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let b = k.batch(10);
            (w, b.y)
        });
        w
    }
}

fn main() {}
