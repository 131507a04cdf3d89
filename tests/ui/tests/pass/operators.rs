//! The operators of numbers, parameters and tensors, in client code and on the server.
#![deny(warnings)]

use fedround::prelude::*;

/// Every operator on every side.
#[derive(Hyper, Debug, Clone)]
pub struct Operators {
    /// A number.
    #[hyper(default = 0.1)]
    pub lr: f32,
    /// A count.
    #[hyper(default = 2)]
    pub steps: usize,
}

#[federated]
impl Algorithm for Operators {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (lr, x) = (self.lr, server.scalar_state("x"));
        let (a, b) = (&lr + &x, x.clone() + &lr);
        let (c, d) = (&lr - x.clone(), &x - &lr);
        let (e, f) = (&lr * &x, x.clone() * &lr);
        let (g, h) = (&lr / x, &f / &lr);
        let mut y = a + b - c - d;
        y *= e;
        y *= &lr;
        y *= 0.5;
        y /= &g;
        y /= self.steps;
        y /= 2;
        server.set_state("x", &(&y + h));
        let mut w = w;
        w *= &y;
        w *= 0.5;
        w /= y;
        w /= &lr;
        w /= 2;
        w
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let (mut n, mut w) = (k.num_examples(), w);
        let b = k.batch(1);
        let mut x = b.x.clone();
        n *= &self.lr;
        n *= 0.5;
        n /= self.lr;
        n /= self.steps;
        x *= &n;
        x /= 0.5;
        x /= self.steps;
        w *= x.sq_norm();
        w /= n;
        w /= 2;
        w
    }
}

#[test]
fn compiles() {
    fedround::stage(&Operators::default()).unwrap();
}
