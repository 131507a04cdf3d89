//! Messages that somebody changed: errors or other numbers, never a panic, and rounds go on.

use std::sync::{Arc, Mutex};

use fedround_random::{Stream, StreamKey};
use fedround_simulation::CohortBatch;
use fedround_simulation::parties::{
    Host, HostId, Loopback, Parties, PartyError, PartyHost, Payload, Replies, Ticket, Unreachable,
};

use crate::altered_replies::coordinator;
use crate::cases::{CASES, Case};

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.0 == name).unwrap()
}

/// A few bytes are changed, added, taken out or cut off.
fn change(bytes: &[u8], words: &mut Stream) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..=words.below(3) {
        // Mostly in the head: tensors are as good with other numbers.
        let end = match words.below(4) {
            0 => changed.len(),
            _ => changed.len().min(900),
        };
        if end == 0 {
            break;
        }
        let (i, byte) = (words.below(end), words.below(256) as u8);
        match words.below(8) {
            0 => changed.truncate(i),
            1 => _ = changed.remove(i),
            2 => changed.insert(i, byte),
            _ => changed[i] = byte,
        }
    }
    changed
}

/// Keeps the requests to its hosts.
struct Tap(Loopback, Arc<Mutex<Vec<Payload>>>);

impl Parties for Tap {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.0.online()
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        self.1.lock().unwrap().push(request.clone());
        self.0.send(to, request)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        self.0.poll()
    }
}

#[test]
fn requests_that_are_none_are_answered() {
    const TRIALS: usize = 10_000;
    let case = case("fedrep");
    let own = || case.with_own_models().with_cohort_batch(CohortBatch::Off);
    let host = |clients: &[usize]| PartyHost::new(own(), clients.to_vec()).unwrap();
    let seen = Arc::default();
    let tap = Tap(Loopback::new(vec![host(&[0, 1, 2])]), Arc::clone(&seen));
    let mut coordinator = own().with_parties(Box::new(tap), 1).unwrap();
    coordinator.run_round().unwrap();
    coordinator.evaluate_at_parties().unwrap();
    let requests = seen.lock().unwrap().clone();
    let requests = requests.iter().map(|request| request.encode().unwrap());
    let requests: Vec<Vec<u8>> = requests.collect();
    assert_eq!(requests.len(), 2);
    let mut words = StreamKey::root(9).stream();
    let mut host = host(&[0, 1, 2]);
    let mut failed = 0;
    for i in 0..TRIALS {
        let changed = change(&requests[i % requests.len()], &mut words);
        let reply = Payload::decode(&host.answer(&changed)).unwrap();
        failed += usize::from(reply.head.starts_with("{\"Failed\""));
    }
    assert!(failed > TRIALS / 2, "{failed}");
    // A client that is elsewhere.
    let mut elsewhere = PartyHost::new(own(), vec![0]).unwrap();
    let reply = Payload::decode(&elsewhere.answer(&requests[0])).unwrap();
    let expected = "client 1 is not at this host";
    assert!(reply.head.contains(expected), "{}", reply.head);
}

#[test]
fn replies_that_are_none_are_refused() {
    const TRIALS: usize = 500;
    let case = case("fedavg");
    let mut words = StreamKey::root(7).stream();
    let mut coordinator = coordinator(case, move |reply| {
        let changed = change(&reply.encode().unwrap(), &mut words);
        Payload::decode(&changed).map_err(|error| PartyError::Failed(error.to_string()))
    });
    let initial = coordinator.parameters().unwrap().into_iter();
    let initial: Vec<Vec<f32>> = initial.map(|(_, _, values)| values).collect();
    let mut refused = 0;
    for _ in 0..TRIALS {
        // Other numbers are as good as the right ones.
        assert!(coordinator.set_parameters(initial.clone()));
        let stats = coordinator.run_round().unwrap();
        assert!(stats.failed.is_empty() || stats.failed == [1], "{stats:?}");
        refused += stats.failed.len();
        let failures = coordinator.party_failures().iter();
        failures.for_each(|(_, why)| assert!(!why.to_string().is_empty()));
    }
    assert!(refused > TRIALS / 5, "{refused}");
}
