//! An experiment whose clients are at parties reports what it reports of a simulation.

use std::sync::{Arc, Mutex};

use fedround::algorithms::{FedAvg, registry};
use fedround::data::Partition;
use fedround::experiment::{Report, Run, Settings};
use fedround::prelude::*;
use fedround::simulation::CohortBatch;
use fedround::simulation::parties::{
    Host, HostId, Loopback, Parties, PartyError, PartyHost, Payload, Replies, Ticket, Unreachable,
};
use fedround::{Experiment, all_fields, set};

use crate::common::digits;

fn experiment(spec: &str) -> Experiment {
    let (spec, codec) = spec.split_once(' ').unwrap_or((spec, "top-k"));
    let mut algorithm = registry().parse(spec).unwrap();
    let small = [("batch", "5"), ("epochs", "1"), ("fraction", "0.5")];
    for (name, value) in small.into_iter().chain([("codec", codec)]) {
        let mut fields = all_fields(&*algorithm).into_iter();
        if let Some(known) = fields.find(|known| known.field.name == name) {
            set(&mut *algorithm, name, known.field.parse(value).unwrap()).unwrap();
        }
    }
    of(algorithm)
}

fn of(algorithm: impl Algorithm) -> Experiment {
    let settings = Settings {
        clients: 6,
        partition: Partition::Shards { per_client: 2 },
        cohort_batch: CohortBatch::Off,
        eval_every: 2,
        threads: 1,
        ..Settings::default()
    };
    Experiment::new(algorithm)
        .model("logistic")
        .data(digits(120, 40))
        .validation(0.3)
        .settings(settings)
}

fn federation(spec: &str, rounds: usize) -> Report {
    federation_of(|| experiment(spec), rounds)
}

fn federation_of(experiment: impl Fn() -> Experiment, rounds: usize) -> Report {
    at_parties(experiment, rounds).train(&mut ()).unwrap()
}

/// A run with two parties.
fn at_parties(experiment: impl Fn() -> Experiment, rounds: usize) -> Run {
    at_noted_parties(experiment, rounds).0
}

/// The same, with the rounds that parties were told noise in.
fn at_noted_parties(
    experiment: impl Fn() -> Experiment,
    rounds: usize,
) -> (Run, Arc<Mutex<Vec<usize>>>) {
    let prepare = || experiment().prepare(rounds).unwrap();
    let hosts = [vec![0, 2, 5], vec![1, 3, 4]]
        .map(|clients| -> PartyHost { prepare().into_party(clients).unwrap() });
    let noted = Arc::default();
    let parties = Noted(Loopback::new(hosts.into()), Arc::clone(&noted));
    let run = prepare().with_parties(Box::new(parties), 1).unwrap();
    (run, noted)
}

/// Parties, and the rounds that the coordinator notes before them.
struct Noted(Loopback, Arc<Mutex<Vec<usize>>>);

impl Parties for Noted {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.0.online()
    }

    fn before_noise(&mut self, round: usize) -> Result<(), String> {
        self.1.lock().unwrap().push(round);
        Ok(())
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        self.0.send(to, request)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        self.0.poll()
    }
}

/// What is reported of a run, besides the time that it took.
fn text(report: &Report) -> String {
    let rounds = report.history.iter().map(|round| {
        let accuracy = (&round.scores, round.validation_accuracy);
        format!("{} {:?} {accuracy:?}", round.number, round.train_loss)
    });
    let rounds: Vec<String> = rounds.collect();
    let best = report.best.as_ref();
    let best = best.map(|best| (best.round, best.validation_accuracy));
    format!("{rounds:#?} {best:?} {:?}", report.client_accuracy)
}

#[test]
fn a_federation_reports_what_a_simulation_does() {
    let (mut personal, mut by_clients) = (vec![], vec![]);
    for spec in ["fedavg", "fedrep", "shared-head", "per-fedavg", "solo"] {
        let simulated = experiment(spec).run(5).unwrap();
        let found = federation(spec, 5);
        assert_eq!(text(&found), text(&simulated), "{spec}");
        let scores = found.scores.unwrap();
        by_clients.extend(scores.by_clients.contains(&true).then_some(spec));
        assert_eq!(scores.local.unwrap().clients, 6, "{spec}");
        personal.extend(scores.personal.then_some(spec));
    }
    assert_eq!(personal, ["fedrep", "per-fedavg", "solo"]);
    assert_eq!(by_clients, ["fedrep", "solo"]);
}

/// FADA's server leaves a network as it was, and so do its clients: it is none that only clients train.
#[test]
fn tensors_that_nobody_changed_are_the_servers() {
    let simulated = experiment("fada").run(1).unwrap();
    let found = federation("fada", 1);
    assert_eq!(text(&found), text(&simulated));
    let scores = found.scores.unwrap();
    assert!(scores.personal && !scores.by_clients.is_empty());
    assert!(!scores.by_clients.contains(&true), "{scores:?}");
}

/// What clients encode is sent as those bytes, and the server adds it to what it sent.
#[test]
fn a_federation_decodes_what_a_simulation_does() {
    let codecs = ["top-k", "random-k", "quantize", "sign", "low-rank"];
    let codecs = codecs.map(|codec| format!("compressed {codec}"));
    for spec in codecs.iter().map(String::as_str).chain(["ef21"]) {
        let simulated = experiment(spec).run(3).unwrap();
        let found = federation(spec, 3);
        assert_eq!(text(&found), text(&simulated), "{spec}");
        assert_eq!(found.bytes_up(), simulated.bytes_up(), "{spec}");
    }
}

/// A model that nobody trains. Clients are tested on its negative.
#[derive(Hyper, Debug, Clone)]
struct Negated<A = FedAvg> {
    /// What would train it.
    base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Negated<A> {
    fn round(&self, _: &ServerCx, w: Server<Params>) -> Server<Params> {
        w
    }

    fn evaluate(&self, server: &ServerCx, w: Server<Params>) -> Clients<Params> {
        let sent = (-1.0 * &w).broadcast(&server.all_clients());
        sent.map(|_, w| w)
    }
}

/// Parties have the model itself, and not what an evaluation makes of it.
#[test]
fn a_federation_tests_the_models_that_an_evaluation_sends() {
    let negated = || {
        of(Negated {
            base: FedAvg::default(),
        })
    };
    let simulated = negated().run(2).unwrap();
    let found = federation_of(negated, 2);
    assert_eq!(text(&found), text(&simulated));
    assert!(found.scores.unwrap().personal);
}

/// Noise is told to the clients of a second exchange, in which one client's value is not finite.
#[derive(Hyper, Debug, Clone)]
struct ToldTwice<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether there is noise.
    #[hyper(default = true)]
    pub noise: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ToldTwice<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let all = server.all_clients();
        let d_k = w.broadcast(&all).map(|k, w| {
            let update = self.client_update(k, w.clone()) - &w;
            update.clip(1.0)
        });
        let moved = if self.noise {
            &w + d_k.mean().noise(0.1)
        } else {
            &w + d_k.mean()
        };
        let w_k = moved.broadcast(&all);
        w_k.map(|k, w| &w / (k.number() - 3.0)).mean()
    }
}

/// The same with finite values, and noise that is known.
#[derive(Hyper, Debug, Clone)]
struct SentTwice<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for SentTwice<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        let all = server.sample(1.0);
        let d_k = w.broadcast(&all).map(|k, w| {
            let b = k.batch(5);
            let w = w.replace_parts(&["Buffer"], &w.zeros_like());
            grad(&w, |w| k.loss(w, &b)).clip(1.0)
        });
        let moved = &w - 0.1 * d_k.mean().noise(0.1);
        moved
            .broadcast(&all)
            .map(|k, w| (0.1 * k.number()) * w)
            .mean()
    }
}

/// The same noise on the values of fewer clients would tell what the others sent.
#[test]
fn a_federation_repeats_no_round_whose_noise_it_has_told() {
    let told = |noise| {
        let base = FedAvg {
            batch: 5,
            epochs: 1,
            ..FedAvg::default()
        };
        of(ToldTwice { base, noise }).reproducible_noise()
    };
    let alone = told(true).run(1).unwrap();
    assert_eq!(alone.history[0].not_finite, [3]);
    let error = at_parties(|| told(true), 1).train(&mut ());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("were skipped"), "{error}");
    let plain = federation_of(|| told(false), 1);
    assert_eq!(plain.history[0].not_finite, [3]);
}

/// Clients add noise to what they send. One client's value is not finite.
#[derive(Hyper, Debug, Clone)]
struct NoisyUploads<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for NoisyUploads<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let all = server.all_clients();
        let d_k = w.broadcast(&all).map(|k, w| {
            let update = self.client_update(k, w.clone()) - &w;
            update.clip(1.0).noise(0.1) / (k.number() - 3.0)
        });
        w + d_k.mean()
    }
}

/// Two noises of one value tell more than one.
#[test]
fn clients_add_noise_once_a_round() {
    let noisy = || {
        of(NoisyUploads {
            base: FedAvg::default(),
        })
        .reproducible_noise()
    };
    assert_eq!(noisy().run(1).unwrap().history[0].not_finite, [3]);
    let (mut run, noted) = at_noted_parties(noisy, 1);
    let error = run.train(&mut ()).unwrap_err().to_string();
    assert!(error.contains("were skipped"), "{error}");
    assert_eq!(*noted.lock().unwrap(), [1]);
}

/// A process that goes on after one that was killed skips the round in which that one told noise.
#[test]
fn a_round_that_was_begun_with_noise_is_skipped_and_counts() {
    let base = FedAvg {
        batch: 5,
        epochs: 1,
        ..FedAvg::default()
    };
    let finite = || of(SentTwice { base: base.clone() }).reproducible_noise();
    let (mut whole, noted) = at_noted_parties(finite, 3);
    let whole = whole.train(&mut ()).unwrap();
    assert_eq!(*noted.lock().unwrap(), [1, 2, 3]);
    let (mut run, noted) = at_noted_parties(finite, 3);
    run.step(&mut ()).unwrap();
    run.skip_until(2);
    let report = run.train(&mut ()).unwrap();
    let skipped: Vec<bool> = report.history.iter().map(|round| round.skipped).collect();
    assert_eq!(skipped, [false, true, false]);
    assert_eq!(*noted.lock().unwrap(), [1, 3]);
    let epsilon = |report: &Report| report.privacy.as_ref().unwrap().epsilon.unwrap();
    assert_eq!(epsilon(&report), epsilon(&whole));
    // Rounds that tell no noise are noted by nobody.
    let (mut plain, noted) = at_noted_parties(|| of(base.clone()), 1);
    plain.train(&mut ()).unwrap();
    assert!(noted.lock().unwrap().is_empty());
}
