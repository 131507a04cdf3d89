//! DP-FedAvg over any base, released features and personal parts compile and link.
#![deny(warnings)]

use fedround::prelude::*;

/// McMahan et al. 2018, Algorithm 1: clip each update to `C`, add `N(0, (zC)²)` to their sum.
#[derive(Hyper, Debug, Clone)]
pub struct DpFedAvg {
    /// `C`: bound on the length of an update.
    #[hyper(default = 1.0, range = 0.0..)]
    pub clip: f32,
    /// `z`: noise for each unit of the bound.
    #[hyper(default = 1.0, range = 0.0..)]
    pub z: f32,
}

#[federated]
impl Algorithm for DpFedAvg {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        let s_t = server.sample(0.1);
        let delta_k = w.broadcast(&s_t).map(|k, w| {
            let delta = self.client_update(k, w.clone()) - w;
            delta.clip(self.clip)
        });
        let m = w.broadcast(&s_t).map(|_, _| Scalar::from(1.0)).sum();
        w + 1.0 / m * delta_k.sum().noise(self.z * self.clip)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(10);
        let w = k.personal(&["head"], &w);
        let w = &w - 0.1 * grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        k.set_personal(&["head"], &w);
        w.replace_parts(&["head"], &k.global_params())
    }
}

#[test]
fn compiles() {
    fedround::stage(&DpFedAvg::default()).unwrap();
}
