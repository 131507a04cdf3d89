//! Parties that die, come back, or go before their reply was pulled.

use std::time::{Duration, Instant};

use fedround_flower::{FlowerError, Party, PartyError};

use crate::parties::{PartyThread, collect, floats, model, numbers, plus, settings, train};
use crate::server::{LONG, SuperLink};

pub fn a_party_that_dies_is_offline(server: &SuperLink) {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let connection = server.connect();
    let lives = PartyThread::start(&connection, settings(one.path()), plus(1.));
    let start = Instant::now();
    let mut dies = Party::join(&connection, settings(two.path())).unwrap();
    let mut coordinator = server.coordinator();
    let content = model([("w", floats([1.]))]);
    let to = [lives.id, dies.node_id()];
    let tickets = coordinator.send(&to, &train(), &content, LONG).unwrap();
    dies.wait(LONG).unwrap().unwrap();
    drop(dies);
    let replies = collect(&mut coordinator, &tickets);
    let arrays = replies[0].as_ref().unwrap().arrays("arrays").unwrap();
    assert_eq!(numbers(&arrays["w"]), [2.]);
    assert_eq!(replies[1], Err(PartyError::Offline));
    // Twice the heartbeat interval of 10 s.
    assert!(start.elapsed() >= Duration::from_secs(20));
    assert_eq!(lives.leave(), 0);
}

pub fn a_killed_party_comes_back_at_once(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let connection = server.connect();
    let start = Instant::now();
    let first = Party::join(&connection, settings(dir.path())).unwrap();
    let id = first.node_id();
    drop(first);
    let again = PartyThread::start(&connection, settings(dir.path()), plus(1.));
    // Twice the heartbeat interval of 10 s, after which the SuperLink takes the first for offline.
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(again.id, id);
    let mut coordinator = server.coordinator();
    let content = model([("w", floats([1.]))]);
    let tickets = coordinator.send(&[id], &train(), &content, LONG).unwrap();
    let replies = collect(&mut coordinator, &tickets);
    assert!(replies[0].is_ok(), "{replies:?}");
    assert_eq!(again.leave(), 0);

    // A party that left is offline at once, and comes back, too.
    let nodes = coordinator.nodes().unwrap();
    assert!(nodes.iter().all(|node| node.id != id));
    let third = Party::join(&connection, settings(dir.path())).unwrap();
    assert_eq!(third.node_id(), id);
    third.leave().unwrap();
}

/// Without its node's number, it has to wait until the SuperLink takes it for offline.
pub fn a_killed_party_without_its_state_waits(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let connection = server.connect();
    let first = Party::join(&connection, settings(dir.path())).unwrap();
    let id = first.node_id();
    drop(first);
    std::fs::remove_file(dir.path().join("node.json")).unwrap();
    let again = Party::join(&connection, settings(dir.path())).unwrap();
    assert_eq!(again.node_id(), id);
    again.leave().unwrap();
}

pub fn a_party_lingers_until_its_reply_was_pulled(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let connection = server.connect();
    let mut party = Party::join(&connection, settings(dir.path())).unwrap();
    let mut coordinator = server.coordinator();
    let content = model([("w", floats([1.]))]);
    let tickets = coordinator
        .send(&[party.node_id()], &train(), &content, LONG)
        .unwrap();
    let request = party.wait(LONG).unwrap().unwrap();
    party.reply(&request, &content).unwrap();
    assert_eq!(party.unpulled().unwrap(), 1);
    let leaving = std::thread::spawn(move || party.leave().unwrap());
    std::thread::sleep(Duration::from_secs(1));
    assert!(!leaving.is_finished());
    let replies = collect(&mut coordinator, &tickets);
    assert_eq!(replies, [Ok(content)]);
    assert_eq!(leaving.join().unwrap(), 0);
}

pub fn intervals_that_flower_refuses_are_named(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(dir.path());
    settings.heartbeat = Duration::from_secs(3);
    let error = Party::join(&server.connect(), settings).unwrap_err();
    assert!(
        matches!(error, FlowerError::HeartbeatInterval { .. }),
        "{error}"
    );
}

/// Two processes cannot be the same party.
pub fn a_key_that_is_online_elsewhere_is_refused(server: &SuperLink) {
    let dir = tempfile::tempdir().unwrap();
    let connection = server.connect();
    let first = Party::join(&connection, settings(dir.path())).unwrap();
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(dir.path().join("key.pem"), copy.path().join("key.pem")).unwrap();
    let error = Party::join(&connection, settings(copy.path())).unwrap_err();
    assert!(matches!(error, FlowerError::StillOnline { .. }), "{error}");
    first.leave().unwrap();
}
