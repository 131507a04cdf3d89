//! Rows of features and labels are joined; models have none.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        w.broadcast(&server.all_clients()).gather().concat()
    }
}

fn main() {}
