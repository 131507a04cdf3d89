//! What is gathered is on the server; its clients get it back by `scatter`.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        let kept = w_k.gather();
        w_k.map(|_, w| w - kept).mean()
    }
}

fn main() {}
