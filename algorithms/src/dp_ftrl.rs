//! Differential privacy by the noise of a tree, without sampling of clients.

use fedround::prelude::*;

use crate::FedAvg;

/// DP-FTRL with momentum. Kairouz, McMahan, Song, Thakkar, Thakurta and Xu 2021, "Practical and Private (Deep)
/// Learning without Sampling or Shuffling", Algorithm 1, <https://arxiv.org/abs/2103.00039>:
/// clients clip their updates, and the sum of all updates since the beginning has the noise of the nodes of a
/// binary tree that make it up, which are few. Clients take part in passes, once in each, in any order; the tree
/// begins anew with each pass (Appendix D).
///
/// The paper's `θ_{t+1} = θ_0 − η v_t`, with `v_t = β v_{t−1} + s_t` of noised prefix sums `s_t`, is computed from
/// one round to the next: `tree_noise` gives `s_t − s_{t−1}`. A claim of central differential privacy holds the
/// graph to it, and `fedround explain` gives the ε.
///
/// Departs:
/// - The noise of a node is its own draw. The paper's implementation also uses the noise of a node's children to
///   lower it (Honaker 2015), and completes the tree of a pass before the next one begins.
/// - Passes are over orders that are drawn anew; in a pass, clients that are left over, fewer than `m`, take no part.
/// - Running statistics stay as they are at first: noise would make variances negative.
///
/// Defaults: `β = 0.9` of the paper's experiments. `z = 0.1` hides little, and is for few clients a round; where more
/// take part, take a larger one. `C = 0.1` and `η = 1` are ours as well.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "dp-ftrl")]
pub struct DpFtrl<A = FedAvg> {
    /// What trains at a client.
    pub base: A,
    /// `m`: clients of a round. A pass has `⌊K/m⌋` rounds.
    #[hyper(default = 10, range = 1..)]
    pub clients: usize,
    /// `z`: noise of each node of the tree, in units of the bound.
    #[hyper(default = 0.1, range = 0.000001..)]
    pub noise: f32,
    /// `C`: bound on the length of an update.
    #[hyper(default = 0.1, range = 0.000001..)]
    pub clip: f32,
    /// `β`: momentum of the server.
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub beta: f32,
    /// `η`: step size of the server.
    #[hyper(default = 1.0, range = 0.0..=1000000.0)]
    pub server_lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for DpFtrl<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        let s_t = server.reshuffled(self.clients);
        let delta_k = w.broadcast(&s_t).map(|k, w| {
            let delta = self.client_update(k, w.clone()) - w;
            let delta = delta.replace_parts(&["Buffer"], &delta.zeros_like());
            delta.clip(self.clip)
        });
        let delta = delta_k.sum().tree_noise(self.noise * self.clip, &s_t) / self.clients;
        let v = self.beta * server.state("v") + delta;
        server.set_state("v", &v);
        let next = &w + self.server_lr * v;
        next.replace_parts(&["Buffer"], &w)
    }
}
