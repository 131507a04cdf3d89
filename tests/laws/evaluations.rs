//! Evaluations that an algorithm defines: several of them by name, which read what the server and the clients
//! keep, take steps and mix models.

use fedround::Experiment;
use fedround::algorithms::{Centralized, FedAvg, Solo};
use fedround::experiment::{Scores, Settings, warnings};
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

/// Evaluates clients together: on a mean of their models, or some of them alone.
#[derive(Hyper, Debug, Clone)]
struct Together<A = FedAvg> {
    /// What trains.
    base: A,
    /// Whether all clients have a model.
    #[hyper(default = true)]
    all: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Together<A> {
    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        if self.all {
            let all = server.all_clients();
            let w_k = w.broadcast(&all).map(|k, w| self.client_update(k, w));
            w_k.mean().broadcast(&all)
        } else {
            w.broadcast(&server.sample(0.5))
        }
    }
}

#[test]
fn an_evaluation_is_of_each_client_by_itself() {
    for (all, said) in [
        (
            true,
            "fed.mean: an evaluation makes the models of a few clients at a time",
        ),
        (false, "fed.sample: expected `server.all_clients()`"),
    ] {
        let run = Experiment::new(Together { base: base(), all });
        let run = run.model("logistic").data(digits(50, 20)).clients(2);
        let error = run.prepare(1).err().unwrap().to_string();
        assert!(error.contains("evaluations.rs"), "{error}");
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn bundled_evaluations_link() {
    let registry = fedround::algorithms::registry();
    for name in registry.names() {
        let algorithm = registry.parse(name).unwrap();
        let all = fedround_dsl::stage_evaluations(&*algorithm, &Default::default()).unwrap();
        for phase in all.into_iter().flat_map(|evaluation| evaluation.phases) {
            let linked = fedround::passes::fed::link(phase.module);
            linked.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
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

/// FedAvg with states that evaluations alone read, one that nothing reads, and a number to be reported.
#[derive(Hyper, Debug, Clone)]
struct Keeping<A = FedAvg> {
    /// What trains.
    base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Keeping<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w = self.base.round(server, w);
        server.set_state("last", &w);
        server.set_state("norm", &w.sq_norm());
        server.set_state("lost", &w);
        w
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        k.set_state("own", &w);
        k.set_state("mixed", &w);
        w
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("own", &w)
    }

    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        let all = server.all_clients();
        let w_k = w.broadcast(&all);
        if server.evaluation("last") {
            server.state("last").broadcast(&all)
        } else if server.evaluation("mixed") {
            w_k.map(|k, w| 0.5 * k.state_or("mixed", &w) + 0.5 * w)
        } else {
            w_k.map(|k, w| self.personalize(k, w))
        }
    }
}

#[test]
fn evaluations_read_states_too() {
    let run = Experiment::new(Keeping { base: base() });
    let run = run.model("logistic").data(digits(50, 20)).clients(2);
    let found = warnings(run.prepare(1).unwrap().program());
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let [only] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(only.contains("state `keeping.lost` is set but"), "{only}");
}

/// FedAvg with an evaluation that sets a state.
#[derive(Hyper, Debug, Clone)]
struct Forgetful<A = FedAvg> {
    /// What trains.
    base: A,
    /// Whether it is one with a name.
    #[hyper(default = false)]
    named: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Forgetful<A> {
    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        let own = 0.5 * k.state_or("own", &w) + 0.5 * w;
        if !self.named {
            k.set_state("own", &own);
        }
        own
    }

    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        if server.evaluation("last") {
            server.set_state("last", &w);
        }
        w.broadcast(&server.all_clients())
            .map(|k, w| self.personalize(k, w))
    }
}

#[test]
fn an_evaluation_sets_no_state() {
    for (named, said) in [
        (false, "state `forgetful.own` is set in `personalize`"),
        (true, "state `forgetful.last` is set in `evaluate`"),
    ] {
        let run = Experiment::new(Forgetful {
            base: base(),
            named,
        });
        let run = run.model("logistic").data(digits(50, 20)).clients(2);
        let error = run.prepare(1).err().unwrap().to_string();
        assert!(error.contains("evaluations.rs"), "{error}");
        assert!(error.contains(said), "{error}");
        assert!(error.contains("set it in `client_update`"), "{error}");
    }
}

/// FedAvg whose clients' models are nearer to what they once kept, if they keep it.
#[derive(Hyper, Debug, Clone)]
struct Pulled<A = FedAvg> {
    /// What trains.
    base: A,
    /// Whether clients keep their models.
    #[hyper(default = true)]
    keep: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Pulled<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        if self.keep {
            k.set_state("own", &w);
        }
        w
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        0.5 * k.state("own") + 0.5 * w
    }
}

#[test]
fn an_evaluation_reads_what_rounds_set() {
    let prepared = |keep| {
        let run = Experiment::new(Pulled { base: base(), keep });
        let run = run.model("logistic").data(digits(50, 20)).clients(2);
        run.prepare(1)
    };
    prepared(true).unwrap();
    let error = prepared(false).err().unwrap().to_string();
    let expected = "state `pulled.own` is read but never set";
    assert!(
        error.contains("evaluations.rs") && error.contains(expected),
        "{error}"
    );
}

#[test]
fn a_centralized_model_is_tested_on_every_clients_examples() {
    let settings = Settings {
        clients: 5,
        threads: 1,
        track_clients: true,
        ..Settings::default()
    };
    let experiment = Experiment::new(Centralized::default()).model("logistic");
    let experiment = experiment.data(digits(60, 40)).settings(settings);
    let report = experiment.run(1).unwrap();
    let scores = report.scores.unwrap();
    let local = scores.local.unwrap();
    assert_eq!(local.clients, 5);
    let each: Vec<f64> = report.client_accuracy.into_iter().flatten().collect();
    let mean = each.iter().sum::<f64>() / 5.0;
    assert_eq!(each.len(), 5);
    assert!((mean - local.mean).abs() < 1e-12);
    assert_eq!(scores.each.unwrap().clients.len(), 5);
}
