//! Each draw has clients of its own.
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Spec {
    #[hyper(default = 0.5, range = 0.0..)]
    pub sigma: f32,
}


#[federated]
impl Algorithm for Spec {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.sample(0.1));
        let also_k = w.broadcast(&server.sample(0.1));
        let sum_k = w_k.zip(&also_k).map(|k, (w, _)| self.client_update(k, w)); //~ values of two cohorts meet
        sum_k.mean()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
