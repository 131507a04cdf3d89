//! A regularizer that no loss adds.
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
        w - g_k.mean()
    }

    fn regularizer(&self, _: &ClientCx, w: &Params) -> Scalar { //~ `regularizer` of spec is called by no layer
        self.sigma * w.sq_norm()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
