use fedround::prelude::*;

/// The server's part of ADCOL. Li, He and Song 2023, "Adversarial Collaborative Learning on Non-IID
/// Features", Algorithm 1: a discriminator `D` learns which client a representation is from.
///
/// Departs: the clients' representations are their inputs, and a round takes a few steps on all of
/// them instead of one pass of mini-batches.
#[derive(Hyper, Debug, Clone)]
pub struct Adversary {
    /// Representations that a client releases in a round.
    #[hyper(default = 20, range = 1..)]
    pub examples: usize,
    /// Steps on the server in a round.
    #[hyper(default = 5, range = 1..)]
    pub steps: usize,
    /// `η`.
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
}

#[federated]
impl Algorithm for Adversary {
    /// `D ← D − η ∇ CE(D(R), id)`, with `R = {R_i}` and the client of each as its label.
    fn round(&self, server: &ServerCx, d: Server<Params>) -> Server<Params> {
        let r_k = d
            .broadcast(&server.all_clients())
            .map(|k, _| k.batch(self.examples).x.release("representations, Alg. 1"));
        let r_k = r_k.gather();
        let id = r_k.map(|k, r| k.labels(&r)).concat();
        let r = r_k.concat();
        server.run(|s| {
            let (r, id) = (s.get(&r), s.get(&id));
            let mut d = s.get(&d);
            for _ in 0..self.steps {
                d -= self.lr * grad(&d, |d| cross_entropy(s.forward(d, &r), &id));
            }
            d
        })
    }
}
