//! Measures how long rounds take: `cargo test -p fedround-flower --release --test superlink cost --
//! --ignored --nocapture`.

use std::time::Instant;

use fedround_flower::{Array, Bytes, Config, ConfigValue, Dtype, Form, Outgoing, Payload};

use crate::mixed::SuperNode;
use crate::parties::{PartyThread, collect, model, settings, train};
use crate::server::{LONG, SuperLink, flower};

/// So many megabytes of other parameters each round, as in training: nothing is there already.
fn parameters(megabytes: u32, round: u8) -> Payload {
    let bytes: Vec<u8> = (0..megabytes * 1_000_000 + 4_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 ^ round)
        .collect();
    let array = Array::new(Dtype::F32, vec![bytes.len() / 4], bytes).unwrap();
    model([("w", array)])
}

#[test]
#[ignore = "a measurement"]
fn cost_of_a_model_of_100_mb_for_two_parties() {
    let Some(programs) = flower() else { return };
    let server = SuperLink::open(&programs);
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let connection = server.connect();
    let echo = || |request: &fedround_flower::Request| Ok(request.payload.clone());
    let parties = [
        PartyThread::start(&connection, settings(dirs[0].path()), echo()),
        PartyThread::start(&connection, settings(dirs[1].path()), echo()),
    ];
    let to = parties.each_ref().map(|party| party.id);
    let mut coordinator = server.coordinator();
    for megabytes in [0, 10, 100] {
        for round in 0..3_u8 {
            let content = parameters(megabytes, round);
            let start = Instant::now();
            let tickets = coordinator.send(&to, &train(), &content, LONG).unwrap();
            let sent = start.elapsed();
            let replies = collect(&mut coordinator, &tickets);
            assert!(replies.iter().all(|reply| reply.as_ref() == Ok(&content)));
            eprintln!(
                "{megabytes} MB: sent in {:.2} s, both replies after {:.2} s",
                sent.as_secs_f64(),
                start.elapsed().as_secs_f64()
            );
        }
    }
    assert_eq!(parties.map(PartyThread::leave), [0, 0]);
}

/// A model that all parties get and each sends back changed, as in FedAvg, with a few settings.
#[test]
#[ignore = "a measurement"]
fn cost_of_a_round_of_ten_parties() {
    let Some(programs) = flower() else { return };
    let median = rounds_of_ten_parties(&SuperLink::open(&programs));
    eprintln!("median with the SuperLink's state in a file: {median:.2}");
    let median = rounds_of_ten_parties(&SuperLink::in_memory(&programs));
    eprintln!("median with its state in memory: {median:.2}");
}

fn rounds_of_ten_parties(server: &SuperLink) -> f64 {
    let connection = server.connect();
    let record = |name: &str, bytes: Bytes| {
        let bytes = [("bytes".to_owned(), ConfigValue::Bytes(bytes))];
        Payload::new().with(name, Config::from(bytes))
    };
    let parties = [(); 10].map(|()| {
        let dir = tempfile::tempdir().unwrap();
        let work = move |request: &fedround_flower::Request| {
            let Some(ConfigValue::Bytes(model)) = request
                .payload
                .config("shared")
                .and_then(|all| all.get("bytes"))
            else {
                return Err("no model".to_owned());
            };
            let mut model = model.to_vec();
            model[0] = request.payload.records.len() as u8;
            Ok(record("own", model.into()))
        };
        let party = PartyThread::start(&connection, settings(dir.path()), work);
        (party, dir)
    });
    let to = parties.each_ref().map(|(party, _)| party.id);
    let mut coordinator = server.coordinator();
    let mut seconds = vec![];
    for round in 0..20_u8 {
        let start = Instant::now();
        let model = vec![round; 199_210 * 4];
        let shared = record("shared", model.into());
        let shared = shared.records["shared"].clone();
        let requests = to.map(|id| {
            let own = record("own", vec![id.0 as u8; 600].into());
            (id, own.with("shared", shared.clone()))
        });
        let kind = train();
        let outgoing = requests.each_ref().map(|(id, payload)| Outgoing {
            to: std::slice::from_ref(id),
            kind: &kind,
            payload,
            form: Form::Inline,
        });
        let tickets = coordinator.send_all(&outgoing, LONG).unwrap();
        let replies = collect(&mut coordinator, &tickets);
        let own = |reply: &Result<Payload, _>| reply.as_ref().unwrap().config("own").cloned();
        let replies: Vec<_> = replies.iter().filter_map(own).collect();
        assert!(replies.len() == 10 && replies.iter().all(|reply| *reply == replies[0]));
        seconds.push(start.elapsed().as_secs_f64());
    }
    eprintln!("rounds of ten parties, seconds: {seconds:.2?}");
    seconds.sort_by(f64::total_cmp);
    for (party, _dir) in parties {
        assert_eq!(party.leave(), 0);
    }
    seconds[10]
}

/// The same model, there and back, with a party of ours and with Flower's client in turn.
#[test]
#[ignore = "a measurement"]
fn cost_of_100_mb_beside_the_client_of_flower() {
    let Some(programs) = flower() else { return };
    let server = SuperLink::open(&programs);
    let mut supernode = SuperNode::start(&server);
    let dir = tempfile::tempdir().unwrap();
    let echo = |request: &fedround_flower::Request| Ok(request.payload.clone());
    let party = PartyThread::start(&server.connect(), settings(dir.path()), echo);
    let mut seconds = [vec![], vec![]];
    for round in 0..6 {
        let (to, form, seconds) = match round % 2 {
            0 => (party.id, Form::Inline, &mut seconds[0]),
            _ => (supernode.node, Form::Objects, &mut seconds[1]),
        };
        let content = parameters(100, round);
        let start = Instant::now();
        let coordinator = &mut supernode.coordinator;
        let outgoing = Outgoing {
            to: &[to],
            kind: &train(),
            payload: &content,
            form,
        };
        let tickets = coordinator.send_all(&[outgoing], LONG).unwrap();
        let replies = collect(coordinator, &tickets);
        assert!(replies[0].is_ok(), "{replies:?}");
        seconds.push(start.elapsed().as_secs_f64());
    }
    for seconds in &mut seconds {
        seconds.sort_by(f64::total_cmp);
    }
    let [ours, theirs] = &seconds;
    eprintln!("100 MB there and back, seconds: {ours:.1?} with a party, {theirs:.1?} with flwr");
    eprintln!("ratio of the medians: {:.2}", ours[1] / theirs[1]);
    assert_eq!(party.leave(), 0);
}
