//! Turns, sizes and lengths are known before a round.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for _ in 0..k.num_examples() {
            w -= self.lr * w.clone();
        }
        for b in k.batches(1.0 / self.lr, 10) {
            w -= self.lr * self.gradient(k, &w, &b);
        }
        let all = list(k.num_examples(), |_| w.clone());
        all[0].clone()
    }

    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        for _ in 0..server.num_clients() {
            w = 0.5 * w;
        }
        w
    }
}

fn main() {}
