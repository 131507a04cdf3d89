//! ProxSkip: a number of steps that a round computes, as masked turns of a loop.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::testing::{assert_trains_alike, train};

/// ProxSkip for federated learning, Scaffnew. Mishchenko, Malinovsky, Stich and Richtárik 2022, "ProxSkip: Yes!
/// Local Gradient Steps Provably Lead to Communication Acceleration! Finally!", Algorithm 2,
/// <https://arxiv.org/abs/2202.09357>. After each step, a coin decides whether all clients communicate.
///
/// A round is what lies between two communications. The number of its steps is geometric with the probability
/// `p`, and the server draws it at the start of the round.
///
/// Departs: a round has at most `most` steps. It has more with the probability `(1 − p)^most`.
#[derive(Hyper, Debug, Clone)]
pub struct ProxSkip {
    /// `γ`.
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
    /// `p`: the probability of a communication after a step.
    #[hyper(default = 0.2, range = 0.0..=1.0)]
    pub p: f32,
    /// The most steps of a round.
    #[hyper(default = 20, range = 1..)]
    pub most: usize,
    /// `B`.
    #[hyper(default = 1000, range = 1..)]
    pub batch: usize,
}

#[federated]
impl Algorithm for ProxSkip {
    fn round(&self, server: &ServerCx, x: Server<Params>) -> Server<Params> {
        let all = server.all_clients();
        let u = server.stream("coin").uniform();
        let steps = ((1.0 - u).ln() / (1.0 - self.p).ln()).floor() + 1.0;
        let steps = steps.min(self.most);
        server.set_state("steps", &steps);
        let x_k = x
            .broadcast(&all)
            .zip(&steps.broadcast(&all))
            .map(|k, (x, steps)| {
                let h = k.state("h");
                let mut x = x;
                let mut left = steps;
                for _ in 0..self.most {
                    let b = k.batch(self.batch);
                    let next = &x - self.lr * (self.gradient(k, &x, &b) - &h);
                    x = left.choose(&next, &x);
                    left -= 1.0;
                }
                x - self.lr / self.p * h
            });
        let next = x_k.mean();
        x_k.zip(&next.broadcast(&all)).map(|k, (sent, next)| {
            let h = k.state("h");
            // What the client had before it took `γ/p h` away.
            let own = sent + self.lr / self.p * &h;
            k.set_state("h", &(h + self.p / self.lr * (next - own)));
        });
        next
    }
}

fn prox_skip(p: f32) -> ProxSkip {
    ProxSkip {
        p,
        ..ProxSkip::default()
    }
}

/// The mean of all clients' steps; the control variates sum to zero.
#[derive(Hyper, Debug, Clone)]
pub struct Together<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Together<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

#[test]
fn who_always_communicates_takes_one_step_at_a_time() {
    let base = FedAvg {
        fraction: 1.0,
        batch: 1000,
        ..FedAvg::default()
    };
    assert_trains_alike!(prox_skip(1.0), Together { base }, tolerance = 1e-5);
}

#[test]
fn rounds_have_drawn_numbers_of_steps() {
    let trained = train(prox_skip(0.2), 12).unwrap();
    let rounds = trained.report.history.iter();
    let steps: Vec<f64> = rounds
        .map(|round| round.server_numbers["proxskip.steps"])
        .collect();
    assert!(
        steps
            .iter()
            .all(|n| n.fract() == 0.0 && (1.0..=20.0).contains(n)),
        "{steps:?}"
    );
    assert!(steps.iter().any(|n| *n != steps[0]), "{steps:?}");
    let losses = trained.losses;
    // In the first round each client walks to its own minimum; from then on, `h` holds it back.
    assert!(losses[11] < 0.8 * losses[1], "{losses:?}");
}
