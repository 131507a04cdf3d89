//! `fedround bench` beside other reports, and what it checks before it measures.

use crate::bench::{TINY, json};
use crate::support::Place;

#[test]
fn peers_join_the_table() {
    let place = Place::new();
    let mut peer = json(&place, &format!("bench {TINY}"));
    peer["peer"] = "torch_loop".into();
    let report = |speed: f64| {
        let mut peer = peer.clone();
        peer["client_steps_per_s"] = speed.into();
        // Fields that only we have.
        peer.as_object_mut().unwrap().remove("median_round_s");
        peer.to_string()
    };
    std::fs::create_dir(place.path("peers")).unwrap();
    for (i, speed) in [1e3, 3e3, 2e3].iter().enumerate() {
        place.write(
            &format!("peers/synth.torch_loop.{i}.json"),
            report(*speed).as_bytes(),
        );
    }
    let table = place.success(&format!("bench {TINY} --markdown --peers peers"));
    let row = table
        .lines()
        .find(|line| line.contains("torch_loop, cpu"))
        .unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!((cells[2], cells[3]), ("3", "2000"), "{row}");

    // Unlike measurements are rows of their own, and tables are read as well.
    let line = format!("bench {TINY} --runs 1 --set lr=0.5");
    place.write("table.json", place.success(&line).as_bytes());
    assert_eq!(place.json("table.json")[0]["runs"][0]["lr"], 0.5);
    let table = place.success(&format!(
        "bench {TINY} --markdown --peers table.json --peers peers"
    ));
    let lr = |line: &&str| line.contains("cohort 2,") && line.contains("set lr=0.5");
    assert_eq!(table.lines().filter(lr).count(), 1, "{table}");
    assert_eq!(table.lines().count(), 2 + 3, "{table}");

    let error = place.failure(&format!("bench {TINY} --peers nowhere.json"), 1);
    assert!(error.contains("nowhere.json"), "{error}");
    place.write("bad.json", b"{\"peer\": 3}");
    let error = place.failure(&format!("bench {TINY} --peers bad.json"), 1);
    assert!(
        error.contains("bad.json: expected a benchmark report"),
        "{error}"
    );
    peer["task"] = "cnn-mnist".into();
    place.write("other.json", peer.to_string().as_bytes());
    let error = place.failure(&format!("bench {TINY} --peers other.json"), 1);
    assert!(error.contains("found cnn-mnist"), "{error}");
}

/// Files that cannot be there are found before anything is measured, which would take hours here.
#[test]
fn files_are_checked_first() {
    let place = Place::new();
    let long = "bench --rounds 100000000";
    for (flags, said) in [
        ("--peers nowhere.json", "nowhere.json"),
        ("--out no/a.json", "cannot write no/a.json"),
        (
            "--sweep clients=10 --plot no/x.svg",
            "cannot write no/x.svg",
        ),
    ] {
        let error = place.failure(&format!("{long} {flags}"), 1);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_is_missing_names_flags_that_there_are() {
    let place = Place::new();
    for line in [
        "bench --task 2nn-mnist --data-dir nowhere",
        "reproduce adfl mnist --data-dir nowhere",
    ] {
        let error = place.failure(line, 1);
        assert!(!error.contains("--data synth-digits"), "{error}");
        assert!(error.contains("help: --data-dir DIR"), "{error}");
    }
}
