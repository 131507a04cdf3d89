//! The server works for a client without the client's data.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).gather();
        w_k.map(|k, w| grad(&w, |w| cross_entropy(k.forward(w, &k.batch(10).x), &k.batch(10).y)))
            .mean()
    }
}

fn main() {}
