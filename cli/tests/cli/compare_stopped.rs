//! Comparisons in which a run fails, or that a signal stops.

#[cfg(unix)]
use std::fs;

use crate::compare::{grid, written};
use crate::support::{Place, stderr};

#[test]
fn a_run_that_diverges_does_not_lose_the_others() {
    let place = Place::new();
    let line = grid("--out out --set fedprox.lr=1e6 --set fedprox.weight_decay=1e6");
    let output = place.output(&line);
    let (out, text) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr(&output),
    );
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(out.contains("0, 2 failed"), "{out}");
    assert!(
        text.contains("[2/4] fedprox, seed 1 failed: round "),
        "{text}"
    );
    assert!(text.contains("error: 2 of 4 runs failed"), "{text}");
    let json = place.json("out/comparison.json");
    assert_eq!(json["algorithms"][0]["complete"], 2);
    assert!(json["algorithms"][1]["test_accuracy"].is_null());
    // Nothing was trained: the accuracy would be that of the first model.
    let failed = place.json("out/fedprox-seed1/summary.json");
    assert_eq!(failed["rounds"], 0);
    assert!(failed["accuracy"].is_null() && failed["test_accuracy"].is_null());
    assert!(failed["seconds"].as_f64().unwrap().is_sign_positive());
    assert!(
        place
            .text("out/comparison.csv")
            .contains("lower the learning rate")
    );
    // It would fail again, and is not run again.
    let before = written(&place);
    assert_eq!(place.output(&line).status.code(), Some(1));
    assert_eq!(written(&place), before);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_there_and_says_how_to_go_on() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use crate::support::program;

    let place = Place::new();
    let line = grid("--out out").replace("--rounds 4", "--rounds 10000000");
    let mut command = Command::new(program());
    let command = command
        .current_dir(place.path(""))
        .args(line.split_whitespace());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (start, metrics) = (Instant::now(), place.path("out/fedavg-seed1/metrics.jsonl"));
    while fs::read_to_string(&metrics).map_or(0, |text| text.lines().count()) < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no round in a minute"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("0 of 4 runs are complete"), "{text}");
    assert!(
        text.contains("the same command with --out out goes on"),
        "{text}"
    );
    let csv = place.text("out/comparison.csv");
    assert!(csv.contains("fedavg,1,interrupted"), "{csv}");
    assert!(csv.contains("fedprox,2,unfinished"), "{csv}");
    assert!(place.text("out/curves.csv").lines().count() > 3);
}
