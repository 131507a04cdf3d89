//! A momentum that is never kept.
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Spec {
    #[hyper(default = 0.5, range = 0.0..)]
    pub sigma: f32,
}


#[federated]
impl Algorithm for Spec {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(0.1);
        let g_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        let v = self.sigma * server.state("v") + g_k.mean(); //~ state `spec.v` is read but never set
        w - v
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
