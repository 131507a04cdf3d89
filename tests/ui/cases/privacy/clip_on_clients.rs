//! Clip and noise are for one tree: on a client, or on the server after aggregation.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    clip: f32,
}

#[federated]
impl Algorithm for Mine {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.clip(self.clip).mean()
    }
}

fn main() {}
