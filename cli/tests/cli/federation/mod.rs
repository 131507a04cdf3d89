//! A coordinator and parties as processes on this machine, with a SuperLink between them.

mod bad_parties;
mod mixed;
mod noise;
mod notices;
mod processes;
mod proxy;
mod refused;
mod secret;
mod server_apps;
mod sums;
mod traffic;
mod trials;

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::superlink::{SuperLink, flower, until};
use crate::support::{Place, SMALL, stderr};
use processes::{Process, coordinator, difference, parties, party, rounds, simulate};

fn assert_equal(place: &Place, spec: &str, simulated: &str) {
    let compared = difference(place, spec, simulated);
    compared.unwrap_or_else(|why| panic!("{spec}: {why}"));
}

fn a_federation_equals_its_simulation(server: &SuperLink, spec: &str) {
    let place = Place::new();
    let simulated = simulate(&place, spec);
    let parties = parties(&place, server, spec);
    let output = Process::start(&place, &coordinator(server, spec)).end();
    let text = stderr(&output);
    assert!(output.status.success(), "{spec}: {text}");
    assert!(text.contains("is here with 5 clients"), "{text}");
    assert_equal(&place, spec, &simulated);
    assert_eq!(
        place.json(&format!("{spec}/summary.json"))["status"],
        "complete"
    );
    for party in parties {
        let output = party.kill("-TERM");
        assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
    }
}

fn a_killed_coordinator_goes_on(server: &SuperLink) {
    let (place, spec) = (Place::new(), "scaffold");
    let simulated = simulate(&place, spec);
    let _parties = parties(&place, server, spec);
    let line = coordinator(server, spec);
    let first = Process::start(&place, &line);
    let start = Instant::now();
    while std::fs::read_dir(place.path("scaffold/checkpoints")).map_or(0, Iterator::count) == 0 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no round in a minute"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill("-KILL");
    let output = Process::start(&place, &line).end();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_equal(&place, spec, &simulated);
}

/// A party is killed at some moment of a round and comes back: its clients are left out of that round at
/// most, and their states are those of the last round in which they took part.
fn a_killed_party_comes_back(server: &SuperLink) {
    let (place, spec) = (Place::new(), "scaffold");
    let [first, _second] = parties(&place, server, spec);
    let line = coordinator(server, spec).replace("--rounds 4", "--rounds 8");
    let coordinator = Process::start(&place, &format!("{line} --deadline 30 --quiet"));
    let start = Instant::now();
    while !place.path("scaffold-0-4/clients.ckpt").exists() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no round in a minute"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill("-KILL");
    let _back = party(&place, server, spec, "0-4");
    let output = coordinator.end();
    assert!(output.status.success(), "{}", stderr(&output));
    let failed = |round: &[Value]| round[1].as_array().map_or(0, Vec::len);
    let rounds = rounds(&place, spec, &["round", "failed"]);
    assert_eq!(rounds.len(), 8);
    // It is back before the end, with states that the coordinator agrees with.
    assert_eq!(failed(&rounds[7]), 0, "{rounds:?}");
    assert!(
        rounds.iter().map(|round| failed(round)).sum::<usize>() <= 2,
        "{rounds:?}"
    );
}

/// A party that joins while rounds go by takes part from then on.
fn a_party_may_join_later(server: &SuperLink) {
    let place = Place::new();
    let same = format!("{SMALL} --set fraction=1").replace("--rounds 4", "--rounds 100000");
    let link = format!("--superlink http://{}", server.address());
    let party = |host: &str| {
        let own = format!("--state party-{host} --host {host} --heartbeat 10 --approve any");
        Process::start(&place, &format!("party fedavg {link} {same} {own}"))
    };
    // Of each round until now.
    let absent = || -> Vec<Vec<u64>> {
        if !place.path("run/metrics.jsonl").exists() {
            return vec![];
        }
        let rounds = rounds(&place, "run", &["failed"]).into_iter();
        let clients = rounds.map(|round| {
            let failed = round[0].as_array().into_iter().flatten();
            failed.map(|client| client.as_u64().unwrap()).collect()
        });
        clients.collect()
    };
    let _first = party("0-4");
    let line = format!("coordinator fedavg {link} {same} --state run --quiet");
    let coordinator = Process::start(&place, &line);
    until("a round without the second party", || !absent().is_empty());
    let _second = party("5-9");
    until("a round with it", || absent().iter().any(Vec::is_empty));
    let output = coordinator.kill("-TERM");
    assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
    let absent = absent();
    let before = absent.iter().take_while(|clients| !clients.is_empty());
    let before: Vec<_> = before.collect();
    assert!(before.iter().all(|clients| **clients == [5, 6, 7, 8, 9]));
    let since = &absent[before.len()..];
    assert!(since.iter().all(Vec::is_empty), "{absent:?}");
}

fn other_programs_are_refused(server: &SuperLink) {
    let place = Place::new();
    let link = format!("--superlink http://{}", server.address());
    // The operator has not read what crosses.
    let line = format!("party fedprox {link} --state p --host 0-9 {SMALL}");
    let output = Process::start(&place, &line).end();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("P = 7,850"));
    let text = stderr(&output);
    let hash = text
        .split("--approve ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    assert!(text.contains("is not approved"), "{text}");
    // Another learning rate is another program.
    place.write("approved", format!("{hash} fedprox in May\n").as_bytes());
    let party = Process::start(&place, &format!("{line} --approve approved"));
    // It writes this when it is online. Before that, the coordinator below would not wait for it.
    until("the party is online", || place.path("p/node.json").exists());
    let other = coordinator(server, "fedprox").replace("--min-parties 2", "--min-parties 1");
    let other = other.replace("--rounds 4", "--rounds 1");
    let other = format!("{other} --set lr=0.05 --patience 1");
    let output = Process::start(&place, &other).end();
    let text = stderr(&output);
    assert!(text.contains("does not take part"), "{text}");
    let text = stderr(&party.kill("-TERM"));
    assert!(text.contains("the coordinator runs the program"), "{text}");
}

/// A federation with its name.
type Scenario<'a> = (&'a str, &'a dyn Fn(&SuperLink));

/// Runs federations on a SuperLink, one after another: parties of all would be asked by every coordinator.
fn scenarios(all: &[Scenario<'_>]) {
    let Some(programs) = flower() else { return };
    let server = SuperLink::open(&programs);
    for (name, run) in all {
        let start = Instant::now();
        run(&server);
        eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
}

#[test]
fn federations_equal_simulations() {
    let equals = |spec: &'static str| {
        move |server: &SuperLink| {
            a_federation_equals_its_simulation(server, spec);
        }
    };
    scenarios(&[
        ("fedavg", &equals("fedavg")),
        ("scaffold", &equals("scaffold")),
        // Of these two, clients' own models are evaluated at the parties.
        ("shared-head", &equals("shared-head")),
        ("per-fedavg", &equals("per-fedavg")),
        ("killed coordinator", &a_killed_coordinator_goes_on),
        ("partial sums", &sums::four_blocks_equal_one_machine),
        ("traffic", &traffic::what_crosses_is_what_is_counted),
    ]);
}

#[test]
fn federations_go_on_with_the_parties_that_are_there() {
    scenarios(&[
        ("noise", &noise::a_coordinator_that_goes_on_tells_noise_once),
        ("killed party", &a_killed_party_comes_back),
        ("late party", &a_party_may_join_later),
        ("bad parties", &bad_parties::the_federation_goes_on),
        ("other programs", &other_programs_are_refused),
        ("notices", &notices::both_sides_say_why_a_party_is_left_out),
        ("stop", &notices::a_waiting_coordinator_stops),
    ]);
}
