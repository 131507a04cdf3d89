//! Apps of Flower on both sides, without Flower between them.

mod batch_norm;
mod checks;

use std::sync::Arc;

use fedround_algorithms::{FedAvg, FedOpt, FedProx, Scaffold};
use fedround_data::Dataset;
use fedround_data::synth::SynthDigits;
use fedround_dsl::{Algorithm, BoxedAlgorithm};
use fedround_flower::{
    Array, Arrays, Config, ConfigValue, Dtype, MetricValue, Payload as Content, Record,
};
use fedround_simulation::parties::{
    Host, HostId, Parties, PartyError, Payload, Replies, Ticket, Unreachable,
};
use fedround_simulation::{CohortBatch, Simulation};

use super::client_apps::{ClientApps, Translated};
use super::local_sgd::LocalSgd;
use super::server_app::AppTrainer;
use crate::experiment::Experiment;
use crate::model_source::ModelSource;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 7,
        ..FedAvg::default()
    }
}

fn prox(mu: f32) -> FedProx<FedAvg> {
    FedProx { base: base(), mu }
}

fn data() -> Arc<Dataset> {
    let digits = SynthDigits {
        train: 60,
        test: 20,
        ..SynthDigits::default()
    };
    Arc::new(digits.generate())
}

fn simulation(algorithm: impl Algorithm) -> Simulation {
    compiled("logistic", algorithm)
}

fn compiled(model: impl Into<ModelSource>, algorithm: impl Algorithm) -> Simulation {
    let experiment = Experiment::new(algorithm).model(model).data(data());
    let experiment = experiment.clients(3).cohort_batch(CohortBatch::Off);
    experiment.prepare(3).unwrap().into_simulation()
}

/// Trains with FedProx of some weight, or with what a request says.
fn trainer(clients: &[usize]) -> AppTrainer<'static> {
    trainer_of(|| Box::new(prox(0.25)), clients)
}

fn trainer_of(algorithm: fn() -> BoxedAlgorithm, clients: &[usize]) -> AppTrainer<'static> {
    trainer_with(algorithm, simulation, clients)
}

/// Trains what a function makes of the algorithm.
fn trainer_with(
    algorithm: fn() -> BoxedAlgorithm,
    simulation: fn(BoxedAlgorithm) -> Simulation,
    clients: &[usize],
) -> AppTrainer<'static> {
    let compile = move |work: Option<&LocalSgd>| {
        let mut algorithm = algorithm();
        for (name, value) in work.map(LocalSgd::settings).unwrap_or_default() {
            fedround_dsl::set(&mut *algorithm, name, value)?;
        }
        Ok(simulation(algorithm))
    };
    AppTrainer::new(clients.to_vec(), data().test.clone(), Box::new(compile)).unwrap()
}

/// Clients that get requests in Flower's convention, and that answer so.
struct Apps {
    apps: ClientApps,
    trainers: Vec<AppTrainer<'static>>,
    replies: Replies,
    tickets: u64,
}

impl Parties for Apps {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        let hosts = (0..self.trainers.len()).map(|client| Host {
            id: HostId(client as u64),
            clients: vec![client],
        });
        Ok(hosts.collect())
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let reply = match self.apps.request(request).unwrap() {
            Translated::Reply(reply) => reply,
            Translated::Request(content) => {
                self.apps.sent(ticket, request);
                let trainer = &mut self.trainers[usize::try_from(to.0).unwrap()];
                let content = trainer.answer("train", &content).unwrap();
                self.apps.reply(ticket, &content).unwrap()
            }
        };
        self.replies.push((ticket, Ok(reply)));
        Ok(ticket)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        Ok(std::mem::take(&mut self.replies))
    }
}

fn equals_its_simulation(
    [mut expected, coordinator]: [Simulation; 2],
    trainer: impl Fn(usize) -> AppTrainer<'static>,
) {
    let apps = Apps {
        apps: ClientApps::of(&coordinator).unwrap(),
        trainers: (0..3).map(trainer).collect(),
        replies: vec![],
        tickets: 0,
    };
    let mut coordinator = coordinator.with_parties(Box::new(apps), 1).unwrap();
    for _ in 0..3 {
        let found = coordinator.run_round().unwrap();
        let expected = expected.run_round().unwrap();
        assert_eq!(coordinator.party_failures(), []);
        assert_eq!(found.client_steps, expected.client_steps);
        assert!((found.train_loss - expected.train_loss).abs() < 1e-6);
    }
    coordinator.settle_parties().unwrap();
    let values = |simulation: &Simulation| simulation.parameters().unwrap();
    assert_eq!(values(&coordinator), values(&expected));
}

/// The coordinator's settings are the ones that count: the trainers are configured otherwise.
#[test]
fn training_over_the_convention_is_that_of_the_simulation() {
    let both = [(); 2].map(|()| simulation(prox(0.5)));
    equals_its_simulation(both, |client| trainer(&[client]));
}

#[test]
fn the_server_may_do_more_than_an_average() {
    let algorithm = || FedOpt {
        base: base(),
        ..FedOpt::default()
    };
    let both = [(); 2].map(|()| simulation(algorithm()));
    equals_its_simulation(both, |client| trainer_of(|| Box::new(base()), &[client]));
}

fn array(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    Array::new(Dtype::F32, shape.to_vec(), vec![0; 4 * n]).unwrap()
}

fn arrays(weight: &[usize]) -> Arrays {
    let named = [("head.weight", array(weight)), ("head.bias", array(&[10]))];
    Arrays::from_iter(named.map(|(name, array)| (name.to_owned(), array)))
}

fn request(arrays: Arrays, settings: &[(&str, ConfigValue)]) -> Content {
    let settings = settings.iter();
    let settings = settings.map(|(name, value)| ((*name).to_owned(), value.clone()));
    Content::new()
        .with("arrays", arrays)
        .with("config", Config::from_iter(settings))
}

#[test]
fn a_party_of_several_clients_answers_with_their_mean() {
    let mut expected = simulation(prox(0.25));
    assert!(expected.set_parameters(vec![vec![0.0; 7840], vec![0.0; 10]]));
    let stats = expected.run_round().unwrap();
    let mut trainer = trainer(&[0, 1, 2]);
    let content = request(arrays(&[10, 784]), &[("server-round", ConfigValue::Int(1))]);
    let reply = trainer.answer("train", &content).unwrap();
    let metrics = reply.metrics("metrics").unwrap();
    assert_eq!(metrics["num-examples"], MetricValue::Int(60));
    assert_eq!(
        metrics.keys().collect::<Vec<_>>(),
        ["num-examples", "train-loss"]
    );
    assert!(stats.train_loss.is_finite());
    let bias = reply.arrays("arrays").unwrap()["head.bias"]
        .bytes()
        .to_vec();
    let bias = bias
        .chunks(4)
        .map(|x| f32::from_le_bytes(x.try_into().unwrap()));
    let parameters = expected.parameters().unwrap();
    let (_, _, expected) = parameters
        .iter()
        .find(|(name, ..)| name == "head.bias")
        .unwrap();
    for (found, expected) in bias.zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    let reply = trainer.answer("evaluate", &content).unwrap();
    let Record::Metrics(metrics) = &reply.records["metrics"] else {
        panic!("{reply:?}");
    };
    // Ten classes, of which a model of zeros knows nothing.
    let MetricValue::Float(loss) = metrics["eval-loss"] else {
        panic!("{metrics:?}");
    };
    assert!((loss - 10_f64.ln()).abs() < 1e-5, "{loss}");
    assert_eq!(metrics["num-examples"], MetricValue::Int(20));
    assert!(reply.arrays("arrays").is_none());
}

#[test]
fn other_training_is_refused() {
    let error = ClientApps::of(&simulation(Scaffold::default()));
    let text = error.err().unwrap().to_string();
    assert!(
        text.contains("clients of scaffold do not train as"),
        "{text}"
    );
    let momentum = FedAvg {
        momentum: 0.9,
        ..base()
    };
    assert!(ClientApps::of(&simulation(momentum)).is_err());
}

/// Factors of one are not in the code, and are settings all the same.
#[test]
fn settings_are_those_of_the_program() {
    let algorithm = FedProx {
        base: FedAvg { lr: 1.0, ..base() },
        mu: 1.0,
    };
    let work = LocalSgd::of(simulation(algorithm).program()).unwrap();
    let expected = LocalSgd {
        epochs: 2,
        batch: 7,
        lr: 1.0,
        proximal_mu: Some(1.0),
    };
    assert_eq!(work, expected);
    let work = LocalSgd::of(simulation(base()).program()).unwrap();
    assert_eq!((work.lr, work.proximal_mu), (0.1, None));
}
