//! Clients that fail or are late, and runs that need more memory than there is.

use serde_json::Value;

use crate::support::{Place, SMALL};

fn rounds(place: &Place, dir: &str) -> Vec<Value> {
    let text = place.text(&format!("{dir}/metrics.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// How many clients are in a round's list, which is left out where it is empty.
fn listed(round: &Value, key: &str) -> usize {
    round[key].as_array().map_or(0, Vec::len)
}

fn total(rounds: &[Value], key: &str) -> usize {
    rounds.iter().map(|round| listed(round, key)).sum()
}

#[test]
fn rounds_say_who_failed_and_the_summary_counts_them() {
    let place = Place::new();
    let line = "fedavg --set fraction=1 --dropout 0.5 --quiet --out";
    place.success(&format!("run {line} out {SMALL}"));
    let all = rounds(&place, "out");
    let failed = total(&all, "failed");
    // 4 rounds of 10 clients.
    assert!((5..=35).contains(&failed), "{failed}");
    let summary = place.json("out/summary.json");
    assert_eq!(summary["faults"]["failed"], failed);
    assert_eq!(summary["faults"]["skipped_rounds"], 0);
    // The settings are in the file, with which the run repeats.
    place.success("run --config out/config.toml --quiet --out again");
    assert_eq!(
        place.read("again/model.safetensors"),
        place.read("out/model.safetensors")
    );
    let seen = |dir: &str| -> Vec<Value> {
        let rounds = rounds(&place, dir).into_iter();
        rounds.map(|round| round["failed"].clone()).collect()
    };
    assert_eq!(seen("again"), seen("out"));
    // Clients that failed sent nothing.
    place.success(&format!(
        "run fedavg --set fraction=1 --quiet --out all {SMALL}"
    ));
    let bytes = |dir: &str| place.json(&format!("{dir}/summary.json"))["bytes_up"].clone();
    let (some, everyone) = (
        bytes("out").as_u64().unwrap(),
        bytes("all").as_u64().unwrap(),
    );
    assert_eq!(some * 40, everyone * (40 - failed as u64));
}

#[test]
fn the_table_has_its_rows_in_one_order_with_faults_and_without() {
    let place = Place::new();
    let line = format!("run fedavg {SMALL} --set fraction=1 --target 0.5");
    for faults in ["", " --dropout 0.3", " --deadline 5 --profiles clients.csv"] {
        place.write(
            "clients.csv",
            format!("speed\n{}", "1\n".repeat(10)).as_bytes(),
        );
        let table = place.success(&format!("{line}{faults}"));
        let at = |row: &str| table.find(&format!("│ {row} ")).unwrap();
        let order = ["rounds", "local accuracy", "test loss", "target", "sent"];
        assert!(order.map(at).is_sorted(), "{table}");
    }
}

#[test]
fn a_deadline_makes_slow_clients_late() {
    let place = Place::new();
    let speeds = "speed\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1e-9\n";
    place.write("clients.csv", speeds.as_bytes());
    let line = format!("run fedavg {SMALL} --set fraction=1 --quiet --profiles clients.csv");
    place.success(&format!("{line} --deadline 5 --out out"));
    for round in rounds(&place, "out") {
        assert_eq!(round["late"], serde_json::json!([9]));
        assert_eq!(round["virtual_seconds"], 5.0);
    }
    assert_eq!(place.json("out/summary.json")["virtual_seconds"], 20.0);
    // The fastest of twice as many clients: never the slowest one.
    let line = line.replace("fraction=1", "fraction=0.4");
    place.success(&format!("{line} --over-select 2 --out more"));
    let all = rounds(&place, "more");
    assert_eq!(total(&all, "surplus"), 4 * 4);
}

#[test]
fn rounds_with_too_few_clients_are_skipped_and_said() {
    let place = Place::new();
    let line = format!("run fedavg {SMALL} --set fraction=1 --dropout 0.5 --min-clients 6");
    let output = place.output(&format!("{line} --out out"));
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("is skipped"), "{text}");
    let all = rounds(&place, "out");
    let skipped = all.iter().filter(|round| round["skipped"] == true);
    assert_eq!(skipped.count(), 2);
    assert_eq!(place.json("out/summary.json")["status"], "complete");
    let bad = |flags: &str, part: &str| {
        let text = place.failure(&format!("run fedavg {SMALL} {flags} --out none"), 1);
        assert!(text.contains(part), "{text}");
    };
    bad("--dropout 1.5", "dropout");
    bad("--speed often:3", "lognormal");
    bad("--deadline=-1", "deadline");
    bad("--over-select 0.5", "over-select");
}

#[test]
fn a_run_whose_rounds_are_all_skipped_has_failed() {
    let place = Place::new();
    let flags = format!("{SMALL} --set fedavg.fraction=1 --dropout 0.5 --min-clients 10");
    let line = format!("run fedavg {flags} --out out").replace("fedavg.", "");
    let text = place.failure(&line, 1);
    for part in [
        "error: nothing was trained: in each of the 4 rounds too few clients arrived",
        "help: a smaller --min-clients",
        "no round trained a model; the settings are kept in out",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!place.path("out/model.safetensors").exists());
    let summary = place.json("out/summary.json");
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["faults"]["skipped_rounds"], 4);
    assert_eq!(rounds(&place, "out").len(), 4);
    let text = place.failure("eval out", 1);
    let why =
        "`out` has no model.safetensors, because its run failed: nothing was trained: in each";
    assert!(text.contains(why), "{text}");

    // A cell of a comparison fails, and the others go on: FedAvg's cohort is one client, which is then all that
    // a round needs.
    let flags = flags.replace("fedavg.fraction=1", "all.fraction=1");
    let flags = flags.replace("--rounds 4", "--rounds 12");
    let line = format!(
        "compare all=fedavg one=fedavg {flags} --set one.fraction=0.1 --seeds 1 --out grid"
    );
    let output = place.output(&line);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("all, seed 1 failed: nothing was trained"),
        "{text}"
    );
    assert!(text.contains("1 of 2 runs failed"), "{text}");
    let status =
        |cell: &str| place.json(&format!("grid/{cell}-seed1/summary.json"))["status"].clone();
    assert_eq!([status("all"), status("one")], ["failed", "complete"]);
}

#[test]
fn a_run_that_cannot_fit_is_refused_with_the_numbers() {
    let place = Place::new();
    let line = "run scaffold --data synth-digits --clients 200000 --partition shared:2 --model cnn";
    let text = place.failure(
        &format!("{line} --set fraction=1 --client-memory 9000GiB --rounds 9 --out out"),
        1,
    );
    for part in [
        "clients' states 465.6 GB",
        "the limit is",
        "--client-memory",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!place.path("out").exists());
}
