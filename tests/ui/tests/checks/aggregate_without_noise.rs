//! Central differential privacy is claimed, and forgotten.
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Spec {
    #[hyper(default = 0.5, range = 0.0..)]
    pub sigma: f32,
}


#[federated]
impl Algorithm for Spec {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        let s_t = server.sample(0.1);
        let g_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w).clip(1.0));
        let noised = g_k.mean().noise(self.sigma);
        let m = g_k.sum(); //~ this aggregate reaches a server state without noise
        server.set_state("m", &(server.state("m") + m));
        w - noised
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }
}
