//! What both sides say, and how they stop.

use std::time::{Duration, Instant};

use super::processes::Process;
use crate::superlink::{SuperLink, until};
use crate::support::{Place, SMALL, stderr};

/// Parties whose operators gave another seed or another share for validation, and one that has the states of another
/// run.
pub fn both_sides_say_why_a_party_is_left_out(server: &SuperLink) {
    let place = Place::new();
    let link = format!("--superlink http://{}", server.address());
    let party = |state: &str, more: &str| {
        let own = format!("--state {state} --host 0-9 --heartbeat 10 --approve any");
        Process::start(
            &place,
            &format!("party scaffold {link} {SMALL} {own} {more}"),
        )
    };
    let coordinate = |state: &str, more: &str| {
        let line = SMALL.replace("--rounds 4", "--rounds 2");
        let line = format!("coordinator scaffold {link} {line} --state {state} {more}");
        Process::start(&place, &line).end()
    };
    let other = party("other", "--seed 2");
    let held = party("held", "--validation 0.2");
    until("the parties are online", || {
        let online = |state: &str| place.path(&format!("{state}/node.json")).exists();
        online("other") && online("held")
    });
    let text = stderr(&coordinate("first", "--patience 8"));
    let seed = "this party has the seed 2, the coordinator has 1";
    let share = "this party has the share of validation examples 0.2, the coordinator has none; \
                 give both the same --validation";
    for why in [seed, share] {
        assert_eq!(text.matches(why).count(), 1, "{text}");
    }
    assert!(text.contains("nothing was trained"), "{text}");
    assert!(text.contains("a longer --patience"), "{text}");
    assert!(!text.contains("--dropout"), "{text}");
    for (party, why) in [(other, seed), (held, share)] {
        let text = stderr(&party.kill("-TERM"));
        assert!(text.contains(&format!("refused: {why}")), "{text}");
    }

    let own = party("own", "");
    let output = coordinate("second", "");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stderr(&coordinate("third", ""));
    let why = "expected clients' states of round 0, found those of round 2";
    assert_eq!(text.matches(why).count(), 1, "{text}");
    assert!(text.contains("delete `clients.ckpt`"), "{text}");
    let text = stderr(&own.kill("-TERM"));
    assert!(text.contains("a request failed here"), "{text}");
    assert!(text.contains(why), "{text}");
}

/// A signal ends the wait for parties and for another run, and no round is skipped by it.
pub fn a_waiting_coordinator_stops(server: &SuperLink) {
    let place = Place::new();
    let link = format!("--superlink http://{}", server.address());
    let line = format!("coordinator fedavg {link} {SMALL} --min-parties 50");
    let stop = |process: Process| {
        let start = Instant::now();
        let output = process.kill("-TERM");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(143), "{text}");
        assert!(start.elapsed() < Duration::from_secs(30), "{text}");
        text
    };
    let waiting = Process::start(&place, &format!("{line} --state waits"));
    until("the run begins", || {
        place.path("waits/metrics.jsonl").exists()
    });
    let text = stop(waiting);
    assert!(text.contains("the same command goes on"), "{text}");
    assert!(!text.contains("is skipped"), "{text}");
    assert_eq!(place.text("waits/metrics.jsonl"), "");
    let text = place.failure("resume waits", 1);
    assert!(text.contains("`fedround coordinator` command"), "{text}");

    // A run whose coordinator died before it could serve it.
    let pending = server.start_run();
    let waiting = Process::start(&place, &format!("{line} --state turn"));
    until("the run is announced", || {
        let status = place.success(&format!("federation status {link}"));
        status.matches("pending").count() == 2
    });
    std::thread::sleep(Duration::from_secs(2));
    let text = stop(waiting);
    let waits = format!("run {pending} is pending at the SuperLink; waiting for it");
    assert_eq!(text.matches(&waits).count(), 1, "{text}");
    place.success(&format!("federation stop {pending} {link}"));
    let status = place.success(&format!("federation status {link}"));
    assert!(!status.contains("pending"), "{status}");
}
