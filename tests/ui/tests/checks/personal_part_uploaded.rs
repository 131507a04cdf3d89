//! A head that should have stayed at home.
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
        let w_k = w.broadcast(&s_t).map(|k, w| {
            let w = k.personal(&["head"], &w);
            let w = &w - self.sigma * self.client_update(k, w.clone());
            k.set_personal(&["head"], &w);
            w
        });
        w_k.mean() //~ the part `head` of what clients send here is personal
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
