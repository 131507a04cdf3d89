//! An optimizer of the server's parameters does not step a client's.
use fedround::optim::Sgd;
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let opt = Sgd::new(self.lr).start(&w);
        let w_k = w.broadcast(&server.all_clients()).map(|_, w| {
            let mut w = w;
            let mut opt = opt.clone();
            let g = w.clone();
            opt.step(&mut w, g);
            w
        });
        w_k.mean()
    }
}

fn main() {}
