//! Local differential privacy is claimed, but the server adds the noise.
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Spec {
    #[hyper(default = 0.5, range = 0.0..)]
    pub sigma: f32,
}


#[federated]
impl Algorithm for Spec {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Local);
        let s_t = server.sample(0.1);
        let g_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w).clip(1.0));
        let g = g_k.mean(); //~ has no noise before it is aggregated (noise is added after, at
        w - g.noise(self.sigma)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
