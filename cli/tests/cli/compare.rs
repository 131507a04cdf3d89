//! Comparisons: their files, going on with them, and what they refuse.

use std::fs;
use std::time::SystemTime;

use serde_json::Value;

use crate::support::{Place, SMALL, in_one_line, stderr};

const RUNS: [&str; 4] = [
    "fedavg-seed1",
    "fedavg-seed2",
    "fedprox-seed1",
    "fedprox-seed2",
];
const FILES: [&str; 6] = [
    "accuracy.svg",
    "comparison.csv",
    "comparison.json",
    "comparison.md",
    "curves.csv",
    "lock",
];

pub fn grid(rest: &str) -> String {
    format!("compare fedavg fedprox {SMALL} --seeds 2 --eval-every 2 {rest}")
}

/// When each run's last file was written.
pub fn written(place: &Place) -> Vec<SystemTime> {
    let last = |run: &&str| place.path(&format!("out/{run}/manifest.json"));
    let time = |path| fs::metadata(path).unwrap().modified().unwrap();
    RUNS.iter().map(|run| time(last(run))).collect()
}

#[test]
fn a_grid_writes_its_runs_and_what_they_come_to() {
    let place = Place::new();
    let text = place.success(&grid("--out out --target 0.05 --set fedprox.mu=0.5"));
    let mut expected: Vec<&str> = FILES.into_iter().chain(RUNS).collect();
    expected.sort_unstable();
    assert_eq!(place.files("out"), expected);
    for part in [
        "fedavg",
        "fedprox",
        "accuracy of 5.0 % was reached",
        "±",
        "2 seeds",
    ] {
        assert!(in_one_line(&text).contains(part), "{part}: {text}");
    }
    // At a terminal nothing is cut off, and nobody claims what seeds do not show.
    assert!(
        text.lines()
            .all(|line| !line.starts_with(['│', '┌']) || line.chars().count() <= 80)
    );
    assert!(
        text.contains("differences from fedavg in accuracy"),
        "{text}"
    );
    let markdown = place.text("out/comparison.md");
    assert!(markdown.starts_with("| algorithm "), "{markdown}");
    assert!(markdown.contains("95 % interval"), "{markdown}");
    assert_eq!(place.text("out/comparison.csv").lines().count(), 1 + 4);
    // Two algorithms, two seeds, four rounds.
    let curves = place.text("out/curves.csv");
    assert_eq!(curves.lines().count(), 1 + 16);
    assert!(curves.contains("fedprox,2,4,"), "{curves}");
    let drawing = place.text("out/accuracy.svg");
    for part in ["<svg", "fedprox", "bytes sent", "target"] {
        assert!(drawing.contains(part), "{part}");
    }

    let json = place.json("out/comparison.json");
    let row = &json["algorithms"][0];
    assert_eq!(
        (&row["algorithm"], &row["complete"]),
        (&"fedavg".into(), &2.into())
    );
    let of = |run: &str, key: &str| place.json(&format!("out/{run}/summary.json"))[key].clone();
    let accuracy = |run: &str| of(run, "test_accuracy").as_f64().unwrap();
    let mean = (accuracy("fedavg-seed1") + accuracy("fedavg-seed2")) / 2.0;
    assert!((row["test_accuracy"]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    let difference = &json["differences"][0];
    assert_eq!(
        (&difference["algorithm"], &difference["pairs"]),
        (&"fedprox".into(), &2.into())
    );
    let by_hand = mean_difference(&accuracy);
    assert!((difference["mean"].as_f64().unwrap() - by_hand).abs() < 1e-12);
    assert!(difference["low"].as_f64() <= difference["high"].as_f64());
    assert_eq!(
        of("fedavg-seed1", "hyper")["lr"],
        of("fedprox-seed1", "hyper")["lr"]
    );
    assert_eq!(of("fedprox-seed2", "hyper")["mu"], 0.5);
}

/// Of FedProx from FedAvg over both seeds.
fn mean_difference(accuracy: &dyn Fn(&str) -> f64) -> f64 {
    let of = |seed: u64| {
        accuracy(&format!("fedprox-seed{seed}")) - accuracy(&format!("fedavg-seed{seed}"))
    };
    f64::midpoint(of(1), of(2))
}

#[test]
fn what_clients_send_to_each_other_is_told() {
    let place = Place::new();
    place.success(&format!(
        "compare fedavg push-sum {SMALL} --seeds 1 --quiet --out out"
    ));
    let runs = place.json("out/comparison.json")["runs"].clone();
    let sent = runs[1]["bytes_across"].as_u64().unwrap();
    assert!(runs[0]["bytes_across"] == 0 && sent > 0);
    let table = place.text("out/comparison.csv");
    let row = table.lines().nth(2).unwrap();
    assert!(table.contains("bytes_across") && row.contains(&format!(",{sent},")));
    place.success("report out/push-sum-seed1");
    let page = place.text("out/push-sum-seed1/report.html");
    assert_eq!(page.matches("between clients").count(), 2);
}

#[test]
fn a_run_of_a_grid_is_a_run() {
    let place = Place::new();
    place.success(&grid("--out out --quiet"));
    place.success("run --config out/fedprox-seed2/config.toml --quiet --out again");
    let model = "model.safetensors";
    let again = place.read(&format!("again/{model}"));
    assert!(place.read(&format!("out/fedprox-seed2/{model}")) == again);
}

#[test]
fn a_second_call_runs_only_what_is_left() {
    let place = Place::new();
    place.success(&grid("--out out --quiet"));
    let (before, report) = (written(&place), place.text("out/comparison.json"));
    let output = place.output(&grid("--out out"));
    assert!(stderr(&output).contains("4 of 4 runs are there already"));
    assert_eq!(written(&place), before);
    assert_eq!(place.text("out/comparison.json"), report);

    // A run that was killed, one that was stopped, and one that never began.
    fs::remove_file(place.path("out/fedavg-seed2/summary.json")).unwrap();
    let stopped = "out/fedprox-seed1/summary.json";
    let text = place
        .text(stopped)
        .replace("\"complete\"", "\"interrupted\"");
    place.write(stopped, text.as_bytes());
    fs::remove_dir_all(place.path("out/fedprox-seed2")).unwrap();
    let output = place.output(&grid("--out out"));
    let text = stderr(&output);
    assert!(text.contains("1 of 4 runs are there already"), "{text}");
    assert!(text.contains("[3/3] fedprox, seed 2"), "{text}");
    let after = written(&place);
    assert_eq!(after[0], before[0]);
    assert!((1..4).all(|i| after[i] > before[i]));
    let accuracies = |json: &str| -> Vec<Value> {
        let json: Value = serde_json::from_str(json).unwrap();
        let runs = json["runs"].as_array().unwrap().iter();
        runs.map(|run| run["test_accuracy"].clone()).collect()
    };
    let now = place.text("out/comparison.json");
    assert_eq!(accuracies(&now), accuracies(&report));

    // Another target is a question about the same runs.
    let json: Value =
        serde_json::from_str(&place.success(&grid("--out out --json --target 1"))).unwrap();
    assert_eq!(json["target"], 1.0);
    assert_eq!(written(&place), after);
}

#[test]
fn more_algorithms_and_seeds_are_added_and_other_settings_refused() {
    let place = Place::new();
    let call =
        |specs: &str, rest: &str| format!("compare {specs} {SMALL} --out out --quiet {rest}");
    place.success(&call("fedavg", "--seeds 1"));
    place.success(&call("fedavg weak=fedprox", "--seeds 2 --set weak.mu=0.1"));
    assert!(place.files("out").contains(&"weak-seed2".to_owned()));
    let files = place.files("out");
    for (rest, part) in [
        ("--rounds 5", "rounds = 4, expected 5"),
        ("--set lr=0.2", "hyper.lr = "),
        ("--partition iid", "partition = "),
    ] {
        let line = call("fedavg", rest);
        let line = if rest.contains("rounds") {
            line.replace("--rounds 4", "")
        } else {
            line
        };
        let text = place.failure(&line, 1);
        assert!(
            text.contains(part) && text.contains("help: choose another --out"),
            "{text}"
        );
    }
    // Of a run that this call would not touch, too.
    let text = place.failure(&call("solo", "--eval-every 1"), 1);
    assert!(text.contains("eval_every = 5, expected 1"), "{text}");
    assert_eq!(place.files("out"), files);
}

#[test]
fn bad_input_is_found_before_anything_runs() {
    let place = Place::new();
    for (line, parts) in [
        (
            "fedavg fedprx",
            vec!["unknown algorithm `fedprx`", "did you mean `fedprox`"],
        ),
        (
            "fedavg fedprox --set mue=1",
            vec!["`mue`", "did you mean `mu`"],
        ),
        (
            "fedavg fedprox --set fedprox.mue=1",
            vec!["`mue`", "did you mean `mu`"],
        ),
        ("fedavg fedavg", vec!["`fedavg` twice", "NAME=SPEC"]),
        (
            "fedavg --seeds 0",
            vec!["seeds: expected at least 1, found 0"],
        ),
        (
            "fedavg --target 90",
            vec!["expected a test accuracy", "found 90"],
        ),
        (
            "fedavg --partition dirichlet:0.0001:2",
            vec!["too few examples"],
        ),
        ("fedavg --model 2n", vec!["did you mean `2nn`"]),
    ] {
        let text = place.failure(&format!("compare {line}"), 1);
        for part in parts {
            assert!(text.contains(part), "{line}: expected `{part}` in: {text}");
        }
    }
    assert!(place.failure("compare", 2).contains("<SPEC>"));
    assert!(place.files("runs").is_empty());
}

#[test]
fn values_are_selected_on_validation_examples() {
    let place = Place::new();
    let line = format!("compare fedavg fedprox {SMALL} --seeds 2 --eval-every 2 --quiet");
    let line = format!("{line} --select fedprox.mu=0.01,100 --validation 0.2 --out out");
    place.success(&line);
    let json = place.json("out/comparison.json");
    let rows = |key: &str| json[key].as_array().unwrap().clone();
    let (chosen, candidates) = (rows("algorithms"), rows("candidates"));
    assert_eq!((chosen.len(), candidates.len()), (2, 3));
    assert_eq!(chosen[0]["algorithm"], "fedavg");
    // The better mean over both seeds, by what each run's own summary says.
    let mean = |folder: &str| {
        let of = |seed: u64| {
            let summary = place.json(&format!("out/{folder}-seed{seed}/summary.json"));
            summary["validation_accuracy"].as_f64().unwrap()
        };
        f64::midpoint(of(1), of(2))
    };
    let (weak, strong) = (mean("fedprox-mu-0-01"), mean("fedprox-mu-100"));
    let best = match strong > weak {
        true => "fedprox mu=100",
        false => "fedprox mu=0.01",
    };
    assert_eq!(chosen[1]["algorithm"], best);
    assert_eq!(json["runs"].as_array().unwrap().len(), 6);
    let markdown = place.text("out/comparison.md");
    assert!(markdown.contains("best of 3 candidates"), "{markdown}");
    assert!(!markdown.contains("| best"), "{markdown}");
    // Nothing to choose on.
    let line = format!("compare fedavg {SMALL} --select lr=0.1,0.2 --out none");
    let text = place.failure(&line, 1);
    assert!(text.contains("--validation 0.1"), "{text}");
    assert!(!place.path("none").exists());
}
