//! Optimizers as specs use them.

use fedround::__private::for_each;
use fedround::algorithms::FedAvg;
use fedround::data::Examples;
use fedround::ir::fed::difference;
use fedround::optim::schedule::cosine;
use fedround::optim::{Adam, Lbfgs, Sgd};
use fedround::passes::fed::link;
use fedround::prelude::*;
use fedround::simulation::CohortBatch;

use super::Closure;
use crate::common::{
    Deal, assert_close, bits, dealt, digits, federation, run, simulation, trained, weights,
};

/// Local training with momentum and a step size that falls with the rounds.
#[derive(Hyper, Debug, Clone)]
pub struct LocalMomentum<A = FedAvg> {
    /// What samples and aggregates.
    pub base: A,
    /// `E`.
    #[hyper(default = 2)]
    pub epochs: usize,
    /// `B`.
    #[hyper(default = 10)]
    pub batch: usize,
    /// `η`.
    #[hyper(default = 0.1)]
    pub lr: f32,
    /// `β`.
    #[hyper(default = 0.5)]
    pub beta: f32,
    /// When the step size is zero.
    #[hyper(default = 10.0)]
    pub rounds: f32,
    /// Largest norm of a gradient.
    #[hyper(default = 1.0)]
    pub clip: f32,
    /// Whether the velocity is kept between rounds.
    #[hyper(default = false)]
    pub keep: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for LocalMomentum<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let sgd = Sgd::new(cosine(self.lr, &k.round(), self.rounds)).momentum(self.beta);
        let mut opt = if self.keep {
            sgd.resume(k, "sgd", &w)
        } else {
            sgd.start(&w)
        };
        for b in k.batches(self.epochs, self.batch) {
            let g = self.gradient(k, &w, &b).clip_norm(self.clip);
            opt.step(&mut w, g);
        }
        if self.keep {
            opt.keep(k, "sgd");
        }
        w
    }
}

/// FedAvg's local training, by an optimizer.
#[derive(Hyper, Debug, Clone)]
pub struct LocalSgd<A = FedAvg> {
    /// What samples and aggregates.
    pub base: A,
    /// `E`.
    #[hyper(default = 2)]
    pub epochs: usize,
    /// `B`.
    #[hyper(default = 10)]
    pub batch: usize,
    /// `η`.
    #[hyper(default = 0.1)]
    pub lr: f32,
    /// `β`.
    #[hyper(default = 0.0)]
    pub beta: f32,
    /// `λ`.
    #[hyper(default = 0.0)]
    pub decay: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for LocalSgd<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let sgd = Sgd::new(self.lr).momentum(self.beta);
        let mut opt = sgd.weight_decay(self.decay).nesterov().start(&w);
        for b in k.batches(self.epochs, self.batch) {
            let g = self.gradient(k, &w, &b);
            opt.step(&mut w, g);
        }
        w
    }
}

/// FedAdam. Reddi et al. 2021, "Adaptive Federated Optimization", Algorithm 2: what a round moves
/// is a gradient of the server's.
#[derive(Hyper, Debug, Clone)]
pub struct FedAdam<A = FedAvg> {
    /// What makes a round.
    pub base: A,
    /// `η`: the server's step size.
    #[hyper(default = 0.01)]
    pub server_lr: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedAdam<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        let mut opt = Adam::new(self.server_lr)
            .eps(1e-3)
            .resume(server, "adam", &w);
        let g = &w - self.base.round(server, w.clone());
        opt.step(&mut w, g);
        opt.keep(server, "adam");
        w
    }
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        ..FedAvg::default()
    }
}

fn momentum() -> LocalMomentum {
    LocalMomentum {
        base: base(),
        ..LocalMomentum::default()
    }
}

fn deal(data: &Examples) -> Deal {
    federation(data, "iid", 4, 9)
}

#[test]
fn without_momentum_the_graph_is_plain_descents() {
    let linked = |algorithm: &dyn Algorithm| {
        let staged = fedround::stage(algorithm).unwrap();
        link(staged).unwrap().module
    };
    let sgd = |beta, decay| LocalSgd {
        base: base(),
        beta,
        decay,
        ..LocalSgd::default()
    };
    assert_eq!(difference(&linked(&sgd(0.0, 0.0)), &linked(&base())), None);
    assert_ne!(difference(&linked(&sgd(0.9, 0.0)), &linked(&base())), None);
    assert_ne!(difference(&linked(&sgd(0.0, 0.1)), &linked(&base())), None);
}

#[test]
fn an_adaptive_server_follows_its_equations() {
    let data = digits(200, 10).train;
    let fed_adam = FedAdam {
        base: base(),
        server_lr: 0.01,
    };
    let mut adaptive = simulation(&fed_adam, "logistic", deal(&data));
    let mut plain = simulation(&base(), "logistic", deal(&data));
    let mut moments = vec![(0.0f64, 0.0f64); weights(&adaptive).len()];
    for t in 1..=4 {
        let w = weights(&adaptive);
        assert!(plain.set_parameters(crate::common::leaves(&adaptive)));
        run(&mut plain, 1);
        let step = |((w, moved), (m, v)): ((&f32, &f32), &mut (f64, f64))| {
            let g = f64::from(w - moved);
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            let (m, v) = (*m / (1.0 - 0.9f64.powi(t)), *v / (1.0 - 0.999f64.powi(t)));
            (f64::from(*w) - 0.01 * m / (v.sqrt() + 1e-3)) as f32
        };
        let moved = weights(&plain);
        let next = w.iter().zip(&moved).zip(&mut moments).map(step);
        let expected: Vec<f32> = next.collect();
        run(&mut adaptive, 1);
        assert_close(&weights(&adaptive), &expected, 1e-5);
    }
}

#[test]
fn a_local_velocity_may_be_kept() {
    let data = digits(200, 10).train;
    let train = |keep, rounds| {
        let algorithm = LocalMomentum { keep, ..momentum() };
        trained(&algorithm, "logistic", deal(&data), rounds)
    };
    // Nothing is kept before the first round.
    assert_eq!(bits(&train(true, 1)), bits(&train(false, 1)));
    assert_ne!(bits(&train(true, 2)), bits(&train(false, 2)));
}

#[test]
fn a_step_size_of_zero_ends_training() {
    let data = digits(200, 10).train;
    let algorithm = LocalMomentum {
        rounds: 3.0,
        ..momentum()
    };
    let mut simulation = simulation(&algorithm, "logistic", deal(&data));
    let mut last = weights(&simulation);
    for t in 0..5 {
        run(&mut simulation, 1);
        let next = weights(&simulation);
        let moved = next
            .iter()
            .zip(&last)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert_eq!(moved > 1e-6, t < 3, "round {t}: {moved}");
        last = next;
    }
}

#[test]
fn training_learns() {
    let data = digits(200, 10).train;
    let mut simulation = simulation(&momentum(), "logistic", deal(&data));
    let first = run(&mut simulation, 1).train_loss;
    let last = run(&mut simulation, 7).train_loss;
    assert!(last < 0.5 * first, "{first} to {last}");
}

/// Full-batch L-BFGS with a search on every client.
fn newton(m: &mut fedround::__private::Definer) {
    m.round(|server, w| {
        let update = |k: &ClientCx, w: Params| {
            for_each(k.batches(1, 100), (w,), |b, (w,)| {
                let loss =
                    |w: &Params| cross_entropy(k.forward(w, &b.x), &b.y) + 0.01 * w.sq_norm();
                (Lbfgs::new(3).armijo(8).minimize(&w, 4, loss),)
            })
            .0
        };
        w.broadcast(&server.all_clients()).map(update).mean()
    });
}

#[test]
fn groups_of_clients_step_as_each_alone() {
    let data = digits(60, 10).train;
    let parts = || vec![(0..13).collect(), (13..41).collect(), (41..60).collect()];
    let kept = LocalMomentum {
        keep: true,
        ..momentum()
    };
    for algorithm in [&kept as &dyn Algorithm, &Closure(newton)] {
        let mut alone = simulation(algorithm, "logistic", dealt(&data, parts(), 1));
        let mut grouped = simulation(algorithm, "logistic", dealt(&data, parts(), 1))
            .with_cohort_batch(CohortBatch::Clients(3));
        let (a, b) = (run(&mut alone, 3), run(&mut grouped, 3));
        assert!((a.train_loss - b.train_loss).abs() < 1e-5);
        assert_close(&weights(&grouped), &weights(&alone), 1e-4);
    }
}
