//! Examples do not leave a client: `map` returns parameters or numbers.
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
        let x_k = w.broadcast(&s_t).map(|k, w| {
            let mut last = w;
            for b in k.batches(1, 10) {
                last = b.x;
            }
            last
        });
        x_k.mean()
    }
}

fn main() {}
