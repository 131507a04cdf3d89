//! Clients are no loop.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    fraction: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut sum = w.zeros_like();
        for k in server.sample(self.fraction) {
            sum += &w;
        }
        sum
    }
}

fn main() {}
