//! DP-FedAvg whose clipping bound follows a quantile of the updates' lengths.

use fedround::prelude::*;

use crate::FedAvg;

/// Adaptive clipping. Andrew, Thakkar, McMahan and Ramaswamy 2021, "Differentially Private Learning with
/// Adaptive Clipping", Algorithm 1, <https://arxiv.org/abs/1905.03871>: clients clip their updates to `C`,
/// and the server adds noise to their sum and to the number of updates that were shorter than `C`, by which
/// it moves `C` to the quantile `γ` of their lengths.
///
/// Both sums are noised, and `fedround explain` gives the ε of both together, which is that of one Gaussian
/// mechanism with noise `z` (Theorem 1). A claim of central differential privacy holds the graph to it.
///
/// Departs:
/// - Each client takes part with probability `q`, by which ε is computed; the paper draws `m` clients and
///   takes the ε of such a draw. Sums are divided by `m = q K`, which is how many take part on average.
/// - Running statistics stay as they are at first: noise would make variances negative.
///
/// Defaults: `γ`, `η_C`, `C⁰` and `β` of the paper's experiments. `z = 0.1` is what costs little accuracy
/// with about a hundred clients a round, and hides little; where more take part, take a larger one. The
/// paper's `σ_b` is `m/20`, here for ten clients.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "adaptive-clip")]
pub struct AdaptiveClip<A = FedAvg> {
    /// What trains at a client.
    pub base: A,
    /// `q`: probability with which each client takes part.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub participation: f32,
    /// `z`: noise of both sums together, in units of what one client moves them by.
    #[hyper(default = 0.1, range = 0.000001..)]
    pub noise: f32,
    /// `σ_b`: standard deviation of the noise on the number of clients within the bound. It must be above
    /// `z/2`: otherwise no noise on the updates brings that of both sums to `z`.
    #[hyper(default = 0.5, range = 0.000001..)]
    pub count_noise: f32,
    /// `γ`: the quantile that the bound follows.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub quantile: f32,
    /// `η_C`: step size of the bound's logarithm; at 0 the bound is fixed.
    #[hyper(default = 0.2, range = 0.0..)]
    pub clip_lr: f32,
    /// `C⁰`: the first bound.
    #[hyper(default = 0.1, range = 0.000001..)]
    pub clip: f32,
    /// `β`: momentum of the server.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub beta: f32,
    /// `η_s`: step size of the server.
    #[hyper(default = 1.0, range = 0.0..=1000000.0)]
    pub server_lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for AdaptiveClip<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        let s_t = server.bernoulli(self.participation);
        let m = self.participation * server.num_clients();
        let c = server.scalar_state_or("c", self.clip);
        let sent = w.broadcast(&s_t).zip(&c.broadcast(&s_t));
        let (delta_k, b_k) = sent.map(|k, (w, c)| {
            let delta = self.client_update(k, w.clone()) - w;
            let delta = delta.replace_parts(&["Buffer"], &delta.zeros_like());
            // Whether it is within the bound, less one half.
            let b = (delta.sq_norm() - &c * &c).select(-0.5, 0.5);
            (delta.clip(&c), b.clip(0.5))
        });
        // `z_Δ = (z⁻² − (2 σ_b)⁻²)^(-1/2)`
        let (z, sigma) = (self.noise, 2.0 * self.count_noise);
        let z_delta = (1.0 / (&z * &z) - 1.0 / (&sigma * &sigma)).pow(-0.5);
        let delta = delta_k.sum().noise(z_delta * &c) / &m;
        let b = b_k.sum().noise(self.count_noise) / &m + 0.5;
        server.set_state("c", &(&c * (-self.clip_lr * (b - self.quantile)).exp()));
        let v = self.beta * server.state("v") + delta;
        server.set_state("v", &v);
        let next = &w + self.server_lr * v;
        next.replace_parts(&["Buffer"], &w)
    }
}
