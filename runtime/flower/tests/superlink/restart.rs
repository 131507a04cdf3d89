//! A SuperLink and a coordinator that are killed in the middle of a round.

use std::time::Duration;

use fedround_flower::{Control, Coordinator, FlowerError, RunOutcome, TaskToken, Ticket};

use tempfile::TempDir;

use crate::parties::{PartyThread, collect, floats, model, numbers, plus, settings, slowly, train};
use crate::server::{LONG, SuperLink, flower, until};

#[test]
fn a_round_survives_the_kill_of_the_superlink() {
    let Some(programs) = flower() else { return };
    let mut server = SuperLink::open(&programs);
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let connection = server.connect();
    // A SuperLink that is away for longer than twice the interval finds all parties offline.
    let patient = |dir: &TempDir| {
        let mut settings = settings(dir.path());
        settings.heartbeat = Duration::from_secs(30);
        settings
    };
    let pause = Duration::from_secs(3);
    let parties = [
        PartyThread::start(&connection, patient(&one), slowly(pause, 1.)),
        PartyThread::start(&connection, patient(&two), slowly(pause, 2.)),
    ];
    let mut coordinator = server.coordinator();
    let content = model([("w", floats([1.]))]);
    let to = parties.each_ref().map(|party| party.id);
    let tickets = coordinator.send(&to, &train(), &content, LONG).unwrap();
    // The parties compute.
    std::thread::sleep(Duration::from_millis(1500));
    server.kill();
    std::thread::sleep(Duration::from_secs(2));
    server.restart();
    let replies = collect(&mut coordinator, &tickets);
    let w = replies.iter().map(|reply| {
        let arrays = reply.as_ref().unwrap().arrays("arrays").unwrap();
        numbers(&arrays["w"])[0]
    });
    assert_eq!(w.collect::<Vec<_>>(), [2., 3.]);
    coordinator.finish(RunOutcome::Completed).unwrap();
    assert_eq!(parties.map(PartyThread::leave), [0, 0]);
}

pub fn another_process_of_the_coordinator_goes_on(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let connection = server.connect();
    let party = PartyThread::start(&connection, settings(dir.path()), plus(1.));
    let mut first = server.coordinator();
    let content = model([("w", floats([1.]))]);
    let tickets = first.send(&[party.id], &train(), &content, LONG).unwrap();
    let saved = serde_json::to_string(&(first.token(), &tickets)).unwrap();
    drop(first);

    let (token, tickets): (TaskToken, Vec<Ticket>) = serde_json::from_str(&saved).unwrap();
    let mut second = Coordinator::resume(&connection, token.clone()).unwrap();
    let replies = collect(&mut second, &tickets);
    let arrays = replies[0].as_ref().unwrap().arrays("arrays").unwrap();
    assert_eq!(numbers(&arrays["w"]), [2.]);
    // Another round of the same run.
    let tickets = second.send(&[party.id], &train(), &content, LONG).unwrap();
    assert!(collect(&mut second, &tickets)[0].is_ok());
    second.finish(RunOutcome::Completed).unwrap();

    // A run that has ended cannot be gone on with.
    let error = Coordinator::resume(&connection, token).unwrap_err();
    assert!(matches!(error, FlowerError::Lost { .. }), "{error}");
    assert_eq!(party.leave(), 0);
}

pub fn a_run_that_the_operator_stops_is_lost(server: &SuperLink) {
    let connection = server.connect();
    let mut coordinator = server.coordinator();
    let control = Control::new(&connection);
    assert!(control.stop_run(coordinator.run()).unwrap());
    let error = coordinator.nodes().unwrap_err();
    assert!(matches!(error, FlowerError::Lost { .. }), "{error}");
    let content = model([("w", floats([1.]))]);
    let nobody = [fedround_flower::NodeId(4711)];
    let error = coordinator
        .send(&nobody, &train(), &content, LONG)
        .unwrap_err();
    assert!(matches!(error, FlowerError::Lost { .. }), "{error}");
    let info = control.run(coordinator.run()).unwrap().unwrap();
    assert_eq!((&*info.status, &*info.sub_status), ("finished", "stopped"));
}

pub fn a_coordinator_waits_for_older_runs(server: &SuperLink) {
    let connection = server.connect();
    let older = server.start_run();
    let newer = server.start_run();
    let short = Duration::from_millis(500);
    let error = Coordinator::acquire(&connection, newer, None, short).unwrap_err();
    let FlowerError::OtherRunPending { run, other } = error else {
        panic!("{error}");
    };
    assert_eq!((run, other), (newer, older));
    let of_newer = {
        let connection = connection.clone();
        std::thread::spawn(move || Coordinator::acquire(&connection, newer, None, LONG).unwrap())
    };
    let first = Coordinator::acquire(&connection, older, None, LONG).unwrap();
    assert_eq!(first.run(), older);
    until("the newer run is served", || of_newer.is_finished());
    assert_eq!(of_newer.join().unwrap().run(), newer);
    // Nobody serves a run that is served.
    let error = Coordinator::acquire(&connection, older, None, short).unwrap_err();
    assert!(matches!(error, FlowerError::NoTask { .. }), "{error}");
}
