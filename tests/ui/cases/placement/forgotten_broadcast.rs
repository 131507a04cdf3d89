//! The server's parameters reach a client only through `broadcast`.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }
}

fn main() {}
