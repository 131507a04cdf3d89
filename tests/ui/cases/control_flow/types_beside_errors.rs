//! Errors of types are told beside broken rules: in other hooks, and before the statement that breaks one.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.map(|_, w| w);
        w_k.mean()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(1.5);
        let g = grad(&w, |w| k.loss(w, &b))?;
        w - self.lr * g
    }
}

fn main() {}
