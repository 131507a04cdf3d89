//! Numbers and parameters on the server, as FedExP and q-FedAvg combine them.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (d, h) = w.broadcast(&server.all_clients()).map(|k, w| {
            let (value, g) = value_and_grad(&w, |w| k.loss(w, &k.batch(10)));
            (value * g, w.sq_norm())
        });
        let (d, h) = (d.sum(), h.sum());
        let mut rate = server.scalar_state("rate");
        rate += &h;
        rate -= 0.5 * &self.lr;
        server.set_state("rate", &rate);
        -&rate * &w - &d / &h + d * h
    }
}

#[test]
fn compiles() {
    fedround::stage(&Mine::default()).unwrap();
}
