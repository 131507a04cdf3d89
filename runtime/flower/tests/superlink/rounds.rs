//! Rounds of two parties and a coordinator.

use std::time::{Duration, Instant};

use fedround_flower::{Control, Delivery, Party, PartyError, RunOutcome};

use crate::parties::{
    PartyThread, average, collect, floats, model, numbers, plus, settings, train,
};
use crate::server::{LONG, SuperLink};

pub fn two_parties_train_for_three_rounds(server: &SuperLink) {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let connection = server.connect();
    assert!(connection.version().unwrap().to_string().starts_with("1."));
    let parties = [
        PartyThread::start(&connection, settings(one.path()), plus(1.)),
        PartyThread::start(&connection, settings(two.path()), plus(3.)),
    ];
    let mut coordinator = server.coordinator();
    let online = parties.each_ref().map(|party| party.id);
    let nodes = coordinator.nodes().unwrap();
    for id in online {
        assert!(nodes.iter().any(|node| node.id == id), "{id} of {nodes:?}");
    }

    // 12 MiB in two arrays: the larger one has three chunks.
    let large = (0..11 << 18).map(|i| (i % 1000) as f32);
    let mut global = model([("w", floats(large)), ("b", floats(vec![0.5; 1 << 18]))]);
    let start = Instant::now();
    for _ in 0..3 {
        let tickets = coordinator.send(&online, &train(), &global, LONG).unwrap();
        let replies = collect(&mut coordinator, &tickets);
        let replies: Vec<_> = replies.into_iter().map(Result::unwrap).collect();
        global = average(&replies);
    }
    eprintln!(
        "3 rounds of 12 MiB with 2 parties: {:.2} s",
        start.elapsed().as_secs_f64()
    );
    let arrays = global.arrays("arrays").unwrap();
    assert_eq!(arrays.keys().collect::<Vec<_>>(), ["w", "b"]);
    assert_eq!(numbers(&arrays["b"]), vec![6.5; 1 << 18]);
    let w = numbers(&arrays["w"]);
    assert!(
        w.iter()
            .enumerate()
            .all(|(i, value)| *value == (i % 1000) as f32 + 6.)
    );

    let run = coordinator.run();
    coordinator.finish(RunOutcome::Completed).unwrap();
    let info = Control::new(&connection).run(run).unwrap().unwrap();
    assert_eq!(
        (&*info.status, &*info.sub_status),
        ("finished", "completed")
    );
    assert_eq!(parties.map(PartyThread::leave), [0, 0]);
}

pub fn failures_of_parties_have_types(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let connection = server.connect();
    let failing = PartyThread::start(&connection, settings(dir.path()), |_| {
        Err("the dataset is missing".to_owned())
    });
    // This one pulls its request, and never answers.
    let silent_dir = tempfile::tempdir().unwrap();
    let mut silent = Party::join(&connection, settings(silent_dir.path())).unwrap();
    let nobody = fedround_flower::NodeId(4711);
    let mut coordinator = server.coordinator();
    let content = model([("w", floats([1.]))]);
    let to = [failing.id, nobody];
    let mut tickets = coordinator.send(&to, &train(), &content, LONG).unwrap();
    // Enough to pull the request on a slow machine.
    let time = Duration::from_secs(18);
    let to = [silent.node_id()];
    tickets.extend(coordinator.send(&to, &train(), &content, time).unwrap());
    let request = silent.wait(LONG).unwrap().unwrap();
    assert_eq!(request.payload, content);
    assert_eq!(request.kind, "train");
    assert!(request.time_left() <= time);
    let replies = collect(&mut coordinator, &tickets);
    let Err(PartyError::Failed(reason)) = &replies[0] else {
        panic!("{:?}", replies[0]);
    };
    assert!(reason.contains("the dataset is missing"), "{reason}");
    assert_eq!(replies[1], Err(PartyError::Offline));
    assert_eq!(replies[2], Err(PartyError::Expired));
    assert_eq!(silent.reply(&request, &content).unwrap(), Delivery::TooLate);
    // The coordinator reports a failed run.
    let run = coordinator.run();
    coordinator
        .finish(RunOutcome::Failed("too few parties".to_owned()))
        .unwrap();
    let info = Control::new(&connection).run(run).unwrap().unwrap();
    assert_eq!(
        (&*info.sub_status, &*info.details),
        ("failed", "too few parties")
    );
    assert_eq!(silent.leave().unwrap(), 0);
    assert_eq!(failing.leave(), 0);
}
