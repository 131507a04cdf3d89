//! Agnostic federated learning: the mixture of clients on which the model is worst.

use fedround::prelude::*;

use crate::FedAvg;

/// Agnostic federated learning. Mohri, Sivek and Suresh 2019, "Agnostic Federated Learning", Algorithm 1
/// (Stochastic-AFL), <https://arxiv.org/abs/1902.00146>: `min_w max_λ Σ_k λ_k L_k(w)` over mixtures `λ`
/// of the clients, each of which is a domain.
///
/// Departs:
/// - A client takes the base's local steps, and the models are averaged by `λᵗ`; the paper takes one
///   step on the mixture's gradient. With one local step on all examples they are the same.
/// - `λ` starts uniform over all clients. In a round that is of some clients, theirs are projected to
///   the simplex of their own sum, and the others' stay. With `fraction = 1` that is the paper's.
/// - Neither the parameters are projected to a ball, nor are iterates averaged.
///
/// Defaults: `γ_λ = 0.1`; the paper tunes it.
#[derive(Hyper, Debug, Clone)]
pub struct Agnostic<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `γ_λ`: step size of the mixture; at 0 the mean is uniform for ever.
    #[hyper(default = 0.1, range = 0.0..)]
    pub dual_lr: f32,
    /// The largest number of examples of a client on which its loss is measured. They are drawn again in each round.
    #[hyper(default = 1000, range = 1..)]
    pub examples: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Agnostic<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let next = self.base.client_update(k, w);
        let loss = self.loss(k, &k.global_params(), &k.batch(self.examples));
        k.set_state("loss", &loss);
        next
    }

    /// `wᵗ⁺¹ ← Σ_k λ_k w_k` and `λ ← Π(λ + γ_λ L(wᵗ))`.
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let loss_k = w_k.map(|k, _| k.scalar_state("loss")).gather();
        let w_k = w_k.gather();
        // Kept is how far it is from the uniform mixture, where it starts.
        let lambda_k = loss_k.map(|k, _| k.scalar_state("lambda") + 1.0 / k.num_clients());
        let (lambda, losses, sum) = (lambda_k.stack(), loss_k.stack(), lambda_k.sum());
        let next = server.run(|s| {
            let ascent = s.get(&lambda) + self.dual_lr * s.get(&losses);
            function("simplex", (&ascent, &s.get(&sum)))
        });
        let next_k = w_k.split::<Scalar>(&next);
        next_k.map(|k, next| k.set_state("lambda", &(next - 1.0 / k.num_clients())));
        // Where all of a cohort's are 0, its clients weigh the same.
        w_k.weighted_mean(&lambda_k.map(|_, lambda| lambda + 1e-30))
    }
}
