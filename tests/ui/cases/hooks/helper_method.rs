//! A method that is no hook.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        self.shrunk(k, w)
    }

    fn shrunk(&self, _: &ClientCx, w: Params) -> Params {
        self.lr * w
    }
}

fn main() {}
