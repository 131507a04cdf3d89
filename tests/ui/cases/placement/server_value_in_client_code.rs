//! A client's code cannot use what the server holds.
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
        let w_k = w.broadcast(&s_t).map(|k, _| self.client_update(k, w));
        self.aggregate(server, w_k)
    }
}

fn main() {}
