//! Clients whose updates are not finite are left out of a round, and nothing that is not finite is
//! ever kept.

use fedround::algorithms::{FedAvg, FedAvgM, Scaffold};
use fedround::prelude::*;
use fedround::simulation::{Diverged, OnNan, RunError, Simulation};

use crate::common::{bits, dealt, digits, run, simulation, weights};

/// FedAvg of the first clients, of whom those with so many examples send `0/0`; each keeps the sum of
/// what it sent.
#[derive(Hyper, Debug, Clone)]
struct Poisoned<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients of a cohort.
    #[hyper(default = 5)]
    pub clients: usize,
    /// Examples of a client whose update is not finite.
    #[hyper(default = 7)]
    pub bad: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Poisoned<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.clients(0, self.clients);
        let w_k = w.broadcast(&s_t).map(|k, w| {
            let w = self.client_update(k, w);
            let others = k.num_examples() - self.bad;
            let w = others / (k.num_examples() - self.bad) * w;
            let sum = k.state("sum") + &w;
            k.set_state("sum", &sum);
            w
        });
        self.aggregate(server, w_k)
    }
}

fn base() -> FedAvg {
    FedAvg {
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn wild(batch: usize) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        batch,
        lr: 1e6,
        weight_decay: 1e6,
        ..FedAvg::default()
    }
}

/// Five clients, of whom the last has 7 examples.
fn federation(algorithm: &dyn Algorithm) -> Simulation {
    let mut end = 0;
    let mut part = |n: usize| {
        end += n;
        (end - n..end).collect()
    };
    let parts = [9, 12, 5, 10, 7].map(&mut part).to_vec();
    let data = digits(50, 10).train;
    simulation(algorithm, "logistic", dealt(&data, parts, 3))
}

fn sum(simulation: &Simulation, client: usize) -> Option<Vec<Vec<f32>>> {
    simulation.client_state(client, "poisoned.sum").unwrap()
}

#[test]
fn a_round_is_that_of_the_clients_whose_updates_are_finite() {
    let poisoned = |clients| Poisoned {
        base: base(),
        clients,
        bad: 7,
    };
    let (mut all, mut others) = (federation(&poisoned(5)), federation(&poisoned(4)));
    for _ in 0..3 {
        let (stats, expected) = (run(&mut all, 1), run(&mut others, 1));
        assert_eq!(stats.not_finite, [4]);
        assert!(expected.not_finite.is_empty());
        assert_eq!(stats.train_loss, expected.train_loss);
        assert_eq!(stats.bytes_up, expected.bytes_up);
        assert_eq!(bits(&weights(&all)), bits(&weights(&others)));
        for k in 0..4 {
            assert_eq!(sum(&all, k), sum(&others, k));
        }
        // Its state is as it was before.
        assert!(sum(&all, 4).is_none());
    }
}

#[test]
fn a_run_may_stop_at_the_first_such_client() {
    let poisoned = Poisoned {
        base: base(),
        clients: 5,
        bad: 10,
    };
    let mut simulation = federation(&poisoned).with_on_nan(OnNan::Stop);
    let before = weights(&simulation);
    match simulation.run_round().unwrap_err() {
        RunError::Diverged { round: 1, what } => assert_eq!(what, Diverged::Clients(vec![3])),
        other => panic!("{other}"),
    }
    assert_eq!(bits(&weights(&simulation)), bits(&before));
    assert_eq!((simulation.round(), sum(&simulation, 0)), (0, None));
}

/// Where a run that diverges at once ends.
fn end(algorithm: &dyn Algorithm) -> Diverged {
    let mut simulation = federation(algorithm);
    let before = weights(&simulation);
    match simulation.run_round().unwrap_err() {
        RunError::Diverged { what, .. } => {
            assert_eq!(bits(&weights(&simulation)), bits(&before));
            what
        }
        other => panic!("{other}"),
    }
}

#[test]
fn nothing_that_is_not_finite_is_kept() {
    // It divides by the step size; its losses are finite.
    let scaffold = Scaffold {
        fraction: 0.6,
        lr: 0.0,
        ..Scaffold::default()
    };
    assert_eq!(end(&scaffold), Diverged::EveryClient(3));
    // Each local step multiplies weights by -1e12. After three, the server's step size is too much.
    let momentum = FedAvgM {
        base: wild(4),
        server_lr: 1e6,
        ..FedAvgM::default()
    };
    assert_eq!(end(&momentum), Diverged::Server);
    // After more, the clients' own weights overflow.
    assert_eq!(end(&wild(1)), Diverged::EveryClient(5));
}
