//! One value for each client is not the server's value: aggregate first.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(0.1);
        w.broadcast(&s_t).map(|k, w| self.client_update(k, w))
    }
}

fn main() {}
