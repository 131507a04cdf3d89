//! Oort: the server calls clients whose data help most and who are fast enough.

use fedround::prelude::*;

use crate::FedAvg;

/// Oort. Lai, Zhu, Madhyastha and Chowdhury 2021, "Oort: Efficient Federated Learning via Guided
/// Participant Selection", Algorithm 1, <https://arxiv.org/abs/2010.06081>.
///
/// A client's utility is `|B_k| √(1/|B_k| Σ ℓ²)` over its examples, plus a bonus for clients that were not
/// called for long, times `(T/t_k)^α` if its round of `t_k` seconds takes longer than the preferred `T`.
/// Most of a cohort are drawn in proportion to their utility, among those with at least `c` times the
/// utility of the last one that would be taken by rank; the others have never been called, and are drawn in
/// proportion to their speed. `T` grows by a step if the clients of a window of rounds had less utility than
/// those of the window before.
///
/// Seconds are those of the [virtual clock](../../docs/faults.md). Without one all clients are equally
/// fast, and nobody is penalised.
///
/// Departs:
/// - Losses are those of the model that was sent, in a pass of its own before training. The paper's are
///   those during training.
/// - A client's `|B_k|` are all of its examples.
/// - The utility is not scaled to be between 0 and 1 before the bonus is added, as it is in the authors'
///   code: the bonus is small beside it.
/// - A client that was called is never left out for good; the paper does so after a number of rounds,
///   and clips utilities at a quantile, against outliers.
/// - The pacer looks at the end of each window, as in the authors' code, so that its windows share no round;
///   Algorithm 1 compares the last two windows in every round.
/// - The paper gives the pacer's step as a share of the clients' durations; here it is in seconds. `T`
///   begins with one step, as in Algorithm 1.
#[derive(Hyper, Debug, Clone)]
pub struct Oort<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Share of the clients that train in a round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub share: f32,
    /// `ε`: share of a cohort that was never called, in the first round.
    #[hyper(default = 0.9, range = 0.0..=1.0)]
    pub explore: f32,
    /// What `ε` is multiplied by after each round.
    #[hyper(default = 0.98, range = 0.0..=1.0)]
    pub decay: f32,
    /// The smallest `ε`.
    #[hyper(default = 0.2, range = 0.0..=1.0)]
    pub least: f32,
    /// `c`: clients with at least this share of the utility of the last who would be taken by rank are
    /// drawn from.
    #[hyper(default = 0.95, range = 0.0..=1.0)]
    pub cutoff: f32,
    /// `α`: exponent of the penalty of slow clients.
    #[hyper(default = 2.0, range = 0.0..)]
    pub alpha: f32,
    /// Factor of the bonus `√(factor · ln R / L_k)` of clients last called in round `L_k`.
    #[hyper(default = 0.1, range = 0.0..)]
    pub staleness: f32,
    /// `Δ`: the pacer's step, in seconds.
    #[hyper(default = 10.0, range = 0.0..)]
    pub step: f32,
    /// `W`: rounds in the pacer's window.
    #[hyper(default = 20, range = 1..)]
    pub window: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Oort<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let limit = server.scalar_state_or("T", self.step);
        let (utility, speed, called) = server.all_clients().map_on_server(|k| {
            let (last, t) = (k.scalar_state("last"), k.seconds());
            let bonus = (self.staleness * (k.round() + 1.0).ln() / &last).sqrt();
            let slow = (&t - k.get(&limit)).select((k.get(&limit) / &t).pow(self.alpha), 1.0);
            // A client without utility may still be drawn.
            let utility = last.select((k.scalar_state("utility") + bonus) * slow + 1e-6, 0.0);
            let speed = last.select(0.0, t.select(1.0 / &t, 1.0));
            (utility, speed, last.min(1.0))
        });
        let (all, called) = (server.num_clients(), called.sum());
        let m = (self.share * &all + 0.5).floor().max(1.0);
        let share = (self.explore * self.decay.pow(server.round())).max(self.least);
        let new = (share * &m + 0.5).floor().min(&all - &called);
        let exploit = (&m - new).min(&called);
        let cut = self.cutoff * utility.nth_largest(&exploit);
        let near = utility.map(|k, u| (k.get(&cut) - &u).select(0.0, &u));
        let new = server.sample_by(&speed, &m - &exploit);
        let s_t = server.sample_by(&near, &exploit).union(&new);

        let (w_k, utility_k) = w.broadcast(&s_t).map(|k, w| {
            let next = self.client_update(k, w.clone());
            let mut squares = Scalar::from(0.0);
            for b in k.batches(1, 64) {
                squares += function("cross_entropy_each", (&k.forward(&w, &b.x), &b.y)).sq_norm();
            }
            (next, (squares * k.num_examples()).sqrt())
        });
        let w = self.aggregate(server, w_k);
        let utility_k = utility_k.gather();
        utility_k.map(|k, utility| {
            k.set_state("utility", &utility);
            k.set_state("last", &(k.round() + 1.0));
        });
        // The pacer, lines 6 to 8.
        let gained = utility_k.sum() + server.scalar_state("gained");
        let before = server.scalar_state("before");
        let windows = ((server.round() + 1.0) / self.window).floor();
        // 1 in the last round of a window, else 0 or less.
        let ends = windows * self.window - server.round();
        let next = (&before - &gained).select(&limit + self.step, &limit);
        server.set_state("T", &ends.select(next, limit));
        server.set_state("before", &ends.select(&gained, before));
        server.set_state("gained", &ends.select(0.0, gained));
        w
    }
}
