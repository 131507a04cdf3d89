//! A discriminator that is trained with noise on its gradients.

use fedround::prelude::*;

use crate::Adcol;

/// DP-SGD on the discriminator, for a server that is trusted. Li, He and Song 2023, "Adversarial
/// Collaborative Learning on Non-IID Features", <https://icml.cc/virtual/2023/poster/24741>, by Abadi
/// et al. 2016, "Deep Learning with Differential Privacy", Algorithm 1,
/// <https://arxiv.org/abs/1607.00133>.
///
/// Over any base that trains a discriminator by `server_gradient`. `fedround explain` says what ε the
/// noise comes to, of one representation in each round: a bound that is proven of shuffled batches,
/// the lower figure that is usually reported, which is not, and what they rest on. Parties get nothing
/// of the server that is not noised, to which the graph is held.
///
/// Departs:
/// - Batches are shuffled, as in the paper's other experiments and in most programs; Algorithm 1
///   draws every row for itself.
/// - A step is divided by the rows of its batch, in Algorithm 1 by how many it has on average.
/// - Representations are taken one by one, so that a step costs as much as one for each of them.
/// - `σ` is given, not ε; the paper says neither it nor its bound.
/// - Running statistics of a discriminator that has them stay as they are at first: they would tell of
///   representations without noise.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "dp-sgd")]
pub struct DpSgd<A = Adcol> {
    /// ADCOL, of which the steps are the server's.
    pub base: A,
    /// `C`: bound on the length of one representation's gradient.
    #[hyper(default = 1.0, range = 0.0001..)]
    pub clip: f32,
    /// `σ`: standard deviation of the noise on a batch's sum, in bounds `C`.
    #[hyper(default = 1.0, range = 0.000001..)]
    pub sigma: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for DpSgd<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        self.base.round(server, w)
    }

    /// `1/B (Σ_i clip(g_i, C) + N(0, σ² C²))`.
    fn server_gradient(&self, s: &ServerComputeCx, w: &Params, x: &Tensor, y: &Labels) -> Params {
        let none = w.zeros_like();
        // A gradient leaves running statistics of its row in what it is of.
        let w = &w.replace_parts(&["Buffer"], &none);
        let (mut sum, mut count) = (none.clone(), Scalar::from(0.0));
        for (x, y) in s.rows(1, 1, (x.clone(), y.clone())) {
            sum += self.base.server_gradient(s, w, &x, &y).clip(self.clip);
            count += 1.0;
        }
        let noised = sum.noise(self.sigma * self.clip);
        let step = none.replace_parts(&["discriminator"], &(1.0 / count * noised));
        step.replace_parts(&["Buffer"], &none)
    }
}
