//! FedRep: a shared representation, a head for each client.

use fedround::optim::Sgd;
use fedround::prelude::*;

/// What a client of [`FedRep`] keeps.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedRepPart {
    /// The head.
    Head,
    /// The predictor, in networks with a projection head.
    Predictor,
}

/// FedRep. Collins et al. 2021, "Exploiting Shared Representations for Personalized Federated
/// Learning", Algorithm 1, <https://arxiv.org/abs/2102.07078>.
///
/// Departs:
/// - Clients are weighted by their examples; the paper's have equally many.
/// - Before a test, each client's head is fitted to the current representation by as many epochs as in
///   training. The head of a client that was never drawn starts from the initial one.
///
/// Defaults: the paper's 10 epochs for the head, one for the body, and `α = 0.01`. The authors' code has a
/// momentum of 0.5, and a weight decay of 1e-4 on all but biases. Here the default is no momentum, as of the
/// other algorithms, so that the rows of a comparison differ by their method alone.
#[derive(Hyper, Debug, Clone)]
pub struct FedRep {
    /// `r`: fraction of the clients that train in a round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub fraction: f32,
    /// Local epochs of the head.
    #[hyper(default = 10, range = 1..)]
    pub head_epochs: usize,
    /// Local epochs of the body.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// Examples in a local batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `α`: local step size.
    #[hyper(default = 0.01, range = 0.0..=1000000.0)]
    pub lr: f32,
    /// Local momentum, from zero for the head and for the body in each round.
    #[hyper(default = 0.0, range = 0.0..1.0)]
    pub momentum: f32,
    /// The layers that are a client's own: `head`, or `predictor` in networks with a projection head.
    #[hyper(default = FedRepPart::Head)]
    pub part: FedRepPart,
}

/// The part that is a client's own.
fn parts(part: FedRepPart) -> [&'static str; 1] {
    [part.word()]
}

#[federated]
impl Algorithm for FedRep {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = self.personalize(k, w);
        // The body's steps would move the head's running statistics.
        k.set_personal(&parts(self.part), &w);
        let mut opt = Sgd::new(self.lr).momentum(self.momentum).start(&w);
        for b in k.batches(self.epochs, self.batch) {
            let g = self.gradient(k, &w, &b);
            let g_body = g.replace_parts(&parts(self.part), &g.zeros_like());
            opt.step(&mut w, g_body);
        }
        w.replace_parts(&parts(self.part), &k.global_params())
    }

    /// The client's head, fitted to the representation that it received.
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let mut own = k.personal(&parts(self.part), &w);
        let mut opt = Sgd::new(self.lr).momentum(self.momentum).start(&own);
        for b in k.batches(self.head_epochs, self.batch) {
            let g = self.gradient(k, &own, &b);
            let g_head = g.zeros_like().replace_parts(&parts(self.part), &g);
            opt.step(&mut own, g_head);
        }
        w.replace_parts(&parts(self.part), &own)
    }
}
