//! Parties that send numbers that are none, or bytes that are no reply: their clients are left out, and the
//! federation goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fedround::Experiment;
use fedround::algorithms::FedAvg;
use fedround::experiment::Settings;
use fedround::federation::{Answer, DurableHost, Participant};
use fedround_data::{Column, Examples, load};
use fedround_flower::{Array, Config, ConfigValue, Dtype, Party, PartySettings, Payload, Record};
use serde_json::Value;

use super::mixed::model;
use super::processes::{Process, rounds};
use crate::superlink::SuperLink;
use crate::support::{Place, SMALL, stderr};

/// A party in this process, until it is stopped.
struct Background {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Background {
    /// `prepare` makes what answers the next request, if one comes soon, and gives how many it answered.
    fn start<F: FnMut() -> usize>(prepare: impl FnOnce() -> F + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut answer, mut answered) = (prepare(), 0);
            while !stopped.load(Ordering::Relaxed) {
                answered += answer();
            }
            answered
        });
        Self { stop, thread }
    }

    /// Gives how many requests it answered.
    fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

const SOON: Duration = Duration::from_millis(200);

fn join(server: &SuperLink, place: &Place, state: &str) -> Party {
    let mut settings = PartySettings::new(place.path(state));
    settings.heartbeat = Duration::from_secs(10);
    Party::join(&server.connect(), settings).unwrap()
}

/// Says which clients it has, and answers all else with changed bytes. A SuperLink stores objects only
/// under the hash of their bytes, so what it sends is cut inside its objects.
fn liar(server: &SuperLink, place: &Place, clients: Vec<u64>) -> Background {
    let (mut party, mut asked) = (join(server, place, "liar"), 0);
    let answer = move || {
        let Some(request) = party.wait(SOON).unwrap() else {
            return 0;
        };
        if request.kind == "query.hello" {
            let reply = greeting(&request.payload, &clients);
            party.reply(&request, &reply).unwrap();
            return 0;
        }
        asked += 1;
        let reply = nonsense(&request.payload, asked);
        party.reply(&request, &reply).unwrap();
        1
    };
    Background::start(|| answer)
}

/// Trains as it should, on examples that are not numbers.
fn poisoned(server: &SuperLink, place: &Place, clients: Vec<usize>) -> Background {
    let party = join(server, place, "poisoned");
    let (mnist, state) = (place.path("data"), place.path("poisoned"));
    Background::start(move || {
        let mut data = load("mnist", Some(&mnist), 0).unwrap();
        let (n, labels) = (data.train.len(), data.train.labels().to_vec());
        let x = Column::floats("x", [1, 28, 28], vec![f32::NAN; n * 784]).unwrap();
        data.train = Examples::of_columns(vec![x], labels).unwrap();
        let algorithm = FedAvg {
            fraction: 1.0,
            ..FedAvg::default()
        };
        let settings = Settings {
            clients: 10,
            ..Settings::default()
        };
        let experiment = Experiment::new(algorithm).model("logistic").data(data);
        let run = experiment.settings(settings).prepare(4).unwrap();
        let host = DurableHost::open(run.into_party(clients).unwrap(), &state).unwrap();
        let mut participant = Participant::new(party, host);
        move || match participant.answer_next(SOON).unwrap() {
            Some(Answer::Replied) => 1,
            Some(Answer::Greeted) | None => 0,
            other => panic!("{other:?}"),
        }
    })
}

/// The question, which has the program's hash, with the clients.
fn greeting(question: &Payload, clients: &[u64]) -> Payload {
    let mut settings = question.config("fedround").unwrap().clone();
    settings.insert("clients".to_owned(), ConfigValue::Uints(clients.to_vec()));
    Payload::new().with("fedround", settings)
}

/// What is no reply: nothing, the request itself, and the request with all its bytes cut or changed.
fn nonsense(request: &Payload, n: usize) -> Payload {
    let change = |bytes: &[u8]| match n % 4 {
        0 => bytes[..bytes.len() / 2].to_vec(),
        _ => bytes.iter().rev().copied().collect(),
    };
    match n % 4 {
        1 => return Payload::new(),
        2 => return request.clone(),
        _ => {}
    }
    let records = request.records.iter().map(|(name, record)| {
        let record = match record {
            Record::Config(settings) => {
                let settings = settings.iter().map(|(name, value)| match value {
                    ConfigValue::Bytes(bytes) => {
                        (name.clone(), ConfigValue::Bytes(change(bytes).into()))
                    }
                    other => (name.clone(), other.clone()),
                });
                settings.collect::<Config>().into()
            }
            Record::Arrays(arrays) => {
                let arrays = arrays.iter().map(|(name, array)| {
                    let bytes = change(array.bytes());
                    let changed = Array::new(Dtype::U8, vec![bytes.len()], bytes);
                    (name.clone(), changed.unwrap())
                });
                arrays.collect::<fedround_flower::Arrays>().into()
            }
            Record::Metrics(metrics) => metrics.clone().into(),
        };
        (name.clone(), record)
    });
    Payload {
        records: records.collect(),
    }
}

pub fn the_federation_goes_on(server: &SuperLink) {
    let place = Place::new();
    let same = format!("{SMALL} --set fraction=1");
    let link = format!("--superlink http://{}", server.address());
    let coordinate = |state: &str, least: usize| {
        let own = format!("--min-parties {least} --state {state} --quiet");
        let line = format!("coordinator fedavg {link} {same} {own}");
        let output = Process::start(&place, &line).end();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let own = "--state honest --host 0-3 --heartbeat 10 --approve any";
    let _honest = Process::start(&place, &format!("party fedavg {link} {same} {own}"));
    coordinate("alone", 1);
    let poisoned = poisoned(server, &place, vec![4, 5, 6]);
    let liar = liar(server, &place, vec![7, 8, 9]);
    coordinate("with-bad-ones", 3);

    let left_out = rounds(&place, "with-bad-ones", &["not_finite", "failed"]);
    let expected = [[4, 5, 6], [7, 8, 9]].map(|clients| Value::from(clients.to_vec()));
    assert_eq!(left_out, vec![expected.to_vec(); 4]);
    let model = |dir: &str| model(&place.read(&format!("{dir}/model.safetensors")));
    let found = model("with-bad-ones");
    assert!(found.iter().all(|x| x.is_finite()));
    assert!(found == model("alone"), "bad parties changed the model");
    assert!(liar.stop() >= 4 && poisoned.stop() >= 4);
}
