//! Evaluations that an algorithm defines: several of them by name, which read what the server and the clients
//! keep, take steps and mix models.

use fedround::Experiment;
use fedround::algorithms::{FedAvg, Solo};
use fedround::experiment::Scores;
use fedround::prelude::*;

use crate::common::digits;

/// FedAvg whose clients are also tested on the first model, a mixture with their own one, after a step, and
/// on the mean of the server's models.
#[derive(Hyper, Debug, Clone)]
struct Several<A = FedAvg> {
    /// What trains.
    base: A,
    /// Weight of the client's own model in the mixture.
    #[hyper(default = 0.0, range = 0.0..=1.0)]
    own: f32,
    /// Epochs of fine-tuning.
    #[hyper(default = 1, range = 0..)]
    tuning: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Several<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let first = server.state_or("first", &w);
        server.set_state("first", &first);
        self.base.round(server, w)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut own = k.state_or("own", &k.global_params());
        for b in k.batches(1, 10) {
            own -= 0.1 * self.gradient(k, &own, &b);
        }
        k.set_state("own", &own);
        self.base.client_update(k, w)
    }

    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        let all = server.all_clients();
        let w_k = w.broadcast(&all);
        if server.evaluation("first") {
            server.state_or("first", &w).broadcast(&all)
        } else if server.evaluation("mixed") {
            w_k.map(|k, w| {
                let own = k.state_or("own", &w);
                self.own * own + (1.0 - self.own) * w
            })
        } else if server.evaluation("fine-tuned") {
            w_k.map(|k, w| {
                let mut w = w;
                for b in k.batches(self.tuning, 10) {
                    w -= 0.1 * self.gradient(k, &w, &b);
                }
                w
            })
        } else {
            w_k
        }
    }
}

fn scores(algorithm: impl Algorithm, rounds: usize) -> Scores {
    let experiment = Experiment::new(algorithm)
        .model("logistic")
        .data(digits(200, 100));
    let report = experiment.clients(5).threads(2).run(rounds).unwrap();
    report.scores.unwrap()
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        ..FedAvg::default()
    }
}

fn several(own: f32, tuning: usize) -> Several {
    Several {
        base: base(),
        own,
        tuning,
    }
}

#[test]
fn each_evaluation_is_reported_by_its_name() {
    let found = scores(several(0.0, 0), 3);
    let names: Vec<&str> = found.evaluations.keys().map(String::as_str).collect();
    assert_eq!(names, ["fine-tuned", "first", "mixed"]);
    // The global model, which the one without a name uses, too.
    let local = found.local.unwrap();
    assert!(!found.personal);
    for name in ["mixed", "fine-tuned"] {
        assert_eq!(found.evaluations[name], local, "{name}");
    }
    // The model that training began with.
    let untrained = Experiment::new(base())
        .model("logistic")
        .data(digits(200, 100));
    let untrained = untrained.clients(5).prepare(1).unwrap().finish().unwrap();
    let untrained = untrained.scores.unwrap().local.unwrap();
    assert_eq!(found.evaluations["first"], untrained);
    assert!(local.mean > untrained.mean + 0.2);
}

#[test]
fn an_evaluation_mixes_models_and_takes_steps() {
    // All of the mixture is the client's own model, which it trains as `solo` does.
    let found = scores(several(1.0, 3), 3);
    let solo = scores(
        Solo {
            epochs: 1,
            batch: 10,
            lr: 0.1,
            ..Solo::default()
        },
        3,
    );
    assert_eq!(found.evaluations["mixed"], solo.local.unwrap());
    // With two labels at each client, its own examples tell more than the global model.
    let (tuned, local) = (found.evaluations["fine-tuned"], found.local.unwrap());
    assert!(tuned.mean > local.mean, "{tuned:?} {local:?}");
}

#[test]
fn parties_make_evaluations_without_a_name_alone() {
    use fedround::simulation::parties::Loopback;
    let run = Experiment::new(several(0.5, 1))
        .model("logistic")
        .data(digits(50, 20));
    let run = run.clients(2).prepare(1).unwrap();
    let error = run
        .with_parties(Box::new(Loopback::new(vec![])), 1)
        .err()
        .unwrap();
    assert!(error.to_string().contains("`first`"), "{error}");
}
