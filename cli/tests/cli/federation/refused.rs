//! Algorithms that cannot run between parties: both sides say so before anything is sent or written.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::processes::algorithms;
use crate::support::{Place, SMALL, stderr};

/// Those of the bundled algorithms, and a part of the reason.
pub const REFUSED: [(&str, &str); 2] = [
    ("fedasync", "updates arrive one by one"),
    ("push-sum", "clients send to each other"),
];

/// Fails if a coordinator or a party of an algorithm does anything but say why it cannot run.
pub fn assert_refused(place: &Place, spec: &str, why: &str) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let link = format!("--superlink http://{}", server.local_addr().unwrap());
    for side in ["coordinator", "party"] {
        let own = match side {
            "party" => "--host 0-9 --approve any",
            _ => "--min-parties 1",
        };
        let line = format!("{side} {spec} {SMALL} {link} --state refused {own}");
        let text = place.failure(&line, 1);
        assert!(text.contains(why), "{line}: {text}");
        assert!(!place.path("refused").exists(), "{line}");
    }
    // Nobody called.
    let called = server.accept().map_err(|error| error.kind());
    assert_eq!(called.unwrap_err(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn algorithms_that_need_a_simulation_are_refused() {
    let place = Place::new();
    let known = algorithms(&place);
    for (spec, why) in REFUSED {
        assert!(known.iter().any(|name| name == spec), "{spec}");
        assert_refused(&place, spec, why);
        // Plug-ins keep what their base does.
        if spec == "fedasync" {
            assert_refused(&place, "fedasync(fedprox)", why);
        }
    }
}

/// The table of the docs has these and no others.
#[test]
fn the_docs_list_them() {
    let page = include_str!("../../../../docs/federation.md");
    let section = page.split("## Which algorithms run").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(listed, REFUSED.map(|(spec, _)| spec));
}

/// Which examples are public is drawn from those of the whole federation.
#[test]
fn a_party_knows_the_public_examples_of_the_whole_federation() {
    let place = Place::new();
    let line = format!(
        "party fedmd {SMALL} --public-share 0.2 --superlink http://127.0.0.1:1 --state p --host 0-4"
    );
    // It prints what it would send.
    let text = stderr(&place.output(&line));
    assert!(text.contains("is not approved; nothing was sent"), "{text}");
    let text = place.failure(&format!("{line} --own-data"), 1);
    assert!(
        text.contains("the examples here are one party's own"),
        "{text}"
    );
}

#[test]
fn a_coordinator_of_parties_with_their_own_data_has_no_public_share() {
    let place = Place::new();
    let line = format!(
        "coordinator fedmd {SMALL} --public-share 0.2 --own-data --superlink http://127.0.0.1:1 --state c"
    );
    let text = place.failure(&line, 1);
    assert!(text.contains("leave one of them out"), "{text}");
}

/// The coordinator compares the share with its own.
#[test]
fn a_party_holds_examples_back() {
    let place = Place::new();
    let line = format!(
        "party per-fedavg {SMALL} --superlink http://127.0.0.1:1 --state p --host 0-4 --validation"
    );
    let text = stderr(&place.output(&format!("{line} 0.3")));
    assert!(text.contains("is not approved; nothing was sent"), "{text}");
    let text = place.failure(&format!("{line} 1.5"), 1);
    assert!(
        text.contains("validation: expected a fraction above 0 and below 1, found 1.5"),
        "{text}"
    );
}

#[test]
fn a_centralized_algorithm_has_one_client() {
    let place = Place::new();
    let line =
        format!("party centralized {SMALL} --superlink http://127.0.0.1:1 --state p --host 0-9");
    let text = place.failure(&line, 1);
    assert!(
        text.contains("client 9 is not one of the federation's 1"),
        "{text}"
    );
}

/// It would go on with the coordinator's own examples.
#[test]
fn the_run_of_a_federation_is_not_resumed_alone() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out fed"));
    place.write("fed/federation.txt", b"");
    let text = place.failure("resume fed --rounds 5", 1);
    assert!(text.contains("holds the run of a federation"), "{text}");
    assert!(text.contains("`fedround coordinator` command"), "{text}");
}

/// Whoever asks for a status does not wait for a SuperLink that is not there.
#[test]
fn a_status_of_nobody_is_an_error_at_once() {
    let place = Place::new();
    let begun = Instant::now();
    let text = place.failure("federation status --superlink http://127.0.0.1:1", 1);
    // Of which two seconds are spent on trying again.
    assert!(begun.elapsed() < Duration::from_secs(20), "{text}");
    assert!(text.contains("did not answer"), "{text}");
    assert!(
        text.contains("help: start one with flower-superlink"),
        "{text}"
    );
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    let place = Place::new();
    place.write("deadline.toml", b"[faults]\ndeadline = 30.0\n");
    let nowhere = "--superlink http://me:secret@127.0.0.1:1 --state s";
    let party = format!("party fedavg {SMALL} {nowhere} --host 0-9");
    let coordinator = format!("coordinator fedavg {SMALL} {nowhere}");
    let personal = coordinator.replace("fedavg", "per-fedavg");
    for (line, why) in [
        (format!("{party} --approve aproved.txt"), "no such file"),
        (
            format!("{party} --approve any"),
            "a user name or a password",
        ),
        // A deadline of a federation needs no virtual clock.
        (
            format!("{coordinator} --config deadline.toml"),
            "a user name",
        ),
        (
            format!("{party} --approve any --config deadline.toml"),
            "a user name",
        ),
        (format!("{personal} --ensemble"), "stay at the parties"),
    ] {
        let text = place.failure(&line, 1);
        assert!(text.contains(why), "{line}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
    // Only a SuperLink that does not answer is to be started.
    let file = place.path("nothing.pem");
    let link = format!("--superlink https://127.0.0.1:1 --ca {}", file.display());
    let text = place.failure(&format!("federation status {link}"), 1);
    assert!(text.contains("cannot read certificates"), "{text}");
    assert!(!text.contains("help:"), "{text}");
}
