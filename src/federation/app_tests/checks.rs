//! Messages that are not what the other side promised.

use fedround_flower::{ConfigValue, MetricValue, Payload as Content};
use fedround_simulation::parties::{
    Host, HostId, Parties, PartyError, Payload, Replies, Ticket, Unreachable,
};

use super::super::client_apps::ClientApps;
use super::super::server_app::AppTrainer;
use super::{array, arrays, base, prox, request, simulation, trainer, trainer_of};

#[test]
fn requests_of_servers_are_checked() {
    let mut trainer = trainer(&[0]);
    let mut error = |kind: &str, content: &Content| {
        let error = trainer.answer(kind, content).unwrap_err();
        error.to_string()
    };
    let settings = |name, value| request(arrays(&[10, 784]), &[(name, value)]);
    let mut extra = arrays(&[10, 784]);
    extra.insert("head.scale".to_owned(), array(&[10]));
    let mut missing = arrays(&[10, 784]);
    missing.shift_remove("head.bias");
    for (content, expected) in [
        (Content::new(), "`arrays`"),
        (
            request(arrays(&[784, 10]), &[]),
            "float32 of shape [10, 784]",
        ),
        (request(extra, &[]), "found the array `head.scale`"),
        (request(missing, &[]), "expected the array `head.bias`"),
        (
            settings("lr", ConfigValue::Float(-1.0)),
            "hyper-parameter `lr`",
        ),
        (
            settings("lr", ConfigValue::Float(f64::NAN)),
            "hyper-parameter `lr`",
        ),
        (settings("local-epochs", ConfigValue::Int(0)), "`epochs`"),
        (
            settings("batch-size", ConfigValue::Int(-3)),
            "setting `batch-size`",
        ),
        (
            settings("batch-size", ConfigValue::Text("7".into())),
            "setting `batch-size`",
        ),
        (
            settings("proximal-mu", ConfigValue::Float(1e30)),
            "not finite",
        ),
    ] {
        let error = error("train", &content);
        assert!(error.contains(expected), "{error}");
    }
    let error = error("query", &request(arrays(&[10, 784]), &[]));
    assert!(error.contains("found `query`"), "{error}");
}

#[test]
fn replies_of_apps_are_checked() {
    let coordinator = simulation(prox(0.5));
    let mut trainer = trainer(&[0]);
    let good = trainer
        .answer("train", &request(arrays(&[10, 784]), &[]))
        .unwrap();
    let metrics = |name: &str, value: MetricValue| {
        let mut metrics = good.metrics("metrics").unwrap().clone();
        metrics.insert(name.to_owned(), value);
        good.clone().with("metrics", metrics)
    };
    let shaped = |shape: &[usize]| good.clone().with("arrays", arrays(shape));
    for (reply, expected) in [
        (
            metrics("num-examples", MetricValue::Int(0)),
            "`num-examples`",
        ),
        (
            metrics("num-examples", MetricValue::Float(2.5)),
            "`num-examples`",
        ),
        (
            metrics("num-examples", MetricValue::Int(i64::MAX)),
            "local steps",
        ),
        (metrics("train-loss", MetricValue::Int(1)), "`train-loss`"),
        (shaped(&[784, 10]), "float32 of shape [10, 784]"),
        (Content::new(), "`arrays`"),
    ] {
        let apps = OneReply {
            apps: ClientApps::of(&coordinator).unwrap(),
            reply,
            replies: vec![],
        };
        let mut coordinator = simulation(prox(0.5))
            .with_parties(Box::new(apps), 1)
            .unwrap();
        // The others are offline.
        let _ = coordinator.run_round();
        let failures = coordinator.party_failures().iter();
        let why: Vec<String> = failures.map(|(_, why)| why.to_string()).collect();
        assert!(
            why.iter().any(|why| why.contains(expected)),
            "{expected}: {why:?}"
        );
    }
}

/// Client 0, which always answers the same.
struct OneReply {
    apps: ClientApps,
    reply: Content,
    replies: Replies,
}

impl Parties for OneReply {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        Ok(vec![Host {
            id: HostId(0),
            clients: vec![0],
        }])
    }

    fn send(&mut self, _: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        let ticket = Ticket(1);
        self.apps.sent(ticket, request);
        let reply = self.apps.reply(ticket, &self.reply);
        let reply = reply.map_err(|error| PartyError::Failed(error.to_string()));
        self.replies.push((ticket, reply));
        Ok(ticket)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        Ok(std::mem::take(&mut self.replies))
    }
}

/// Strategies that have a proximal term may send a weight of 0.
#[test]
fn a_weight_of_zero_is_no_proximal_term() {
    let settings = [("proximal-mu", ConfigValue::Float(0.0))];
    let answer = |mut trainer: AppTrainer, settings: &[_]| {
        let content = request(arrays(&[10, 784]), settings);
        let reply = trainer.answer("train", &content).unwrap();
        reply.arrays("arrays").unwrap()["head.bias"]
            .bytes()
            .to_vec()
    };
    let none = answer(trainer_of(|| Box::new(base()), &[0]), &[]);
    assert_eq!(answer(trainer(&[0]), &settings), none);
    assert_ne!(answer(trainer(&[0]), &[]), none);
}
