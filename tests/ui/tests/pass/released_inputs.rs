//! Released values in functions and losses of the server.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let b = k.batch(10);
            (b.x.release("a test"), b.y.release("a test"))
        });
        let (x, y) = (x_k.gather().concat(), y_k.gather().concat());
        server.run(|s| {
            let (w, x, y) = (s.get(&w), s.get(&x), s.get(&y));
            let z = s.apply("forward", &w, &x);
            let own = loss("mse", (&x, &x)) + loss("entropy", &function("same", (&y, &y)));
            (own + loss("entropy", &x) + cross_entropy(z, &y)) * w
        })
    }
}

#[test]
fn compiles() {
    fedround::stage(&Mine {}).unwrap();
}
