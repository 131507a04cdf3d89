//! Code on the server reads what is gathered, not what is still on the clients.
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
        w_k.gather().zip(&w_k).map(|_, (a, b)| a - b).mean()
    }
}

fn main() {}
