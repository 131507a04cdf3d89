//! A norm that no one asked for.
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Spec {
    #[hyper(default = 0.5, range = 0.0..)]
    pub sigma: f32,
}


#[federated]
impl Algorithm for Spec {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.sigma);
        let (g_k, _) = w.broadcast(&s_t).map(|k, w| { //~ nothing reads what the clients upload here
            let g = self.client_update(k, w);
            (g.clone(), g.sq_norm())
        });
        w - g_k.mean()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
