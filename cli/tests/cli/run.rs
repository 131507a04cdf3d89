//! Runs that succeed, and what they print.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{Place, SMALL, program, stderr};

#[test]
fn json_is_the_summary_alone() {
    let place = Place::new();
    let output = place.run("fedprox --json --out out");
    assert!(output.status.success(), "{}", stderr(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary, place.json("out/summary.json"));
    let numbers = [
        "rounds",
        "test_accuracy",
        "test_loss",
        "client_steps",
        "seconds",
        "client_steps_per_second",
        "bytes_up",
        "bytes_down",
        "seed",
    ];
    for key in numbers {
        assert!(summary[key].is_number(), "{key}: {summary}");
    }
    assert_eq!(summary["spec"], "fedprox");
    assert_eq!(summary["status"], "complete");
    assert_eq!(summary["rounds"], 4);
    // One of ten clients a round, 30 examples in batches of 10.
    assert_eq!(summary["client_steps"], 12);
    let parameters = 7850;
    assert_eq!(summary["parameters"], parameters);
    assert_eq!(summary["bytes_down"], 4 * 4 * parameters);
    assert_eq!(summary["bytes_up"], 4 * (4 * parameters + 4));
    assert_eq!(summary["class_accuracy"].as_object().unwrap().len(), 10);
}

#[test]
fn training_learns() {
    let place = Place::new();
    let settings = "--rounds 20 --partition iid --set fraction=1 --set lr=0.1 --quiet --out out";
    let line = format!("run fedavg {SMALL} {settings}").replace("--rounds 4 ", "");
    assert_eq!(place.success(&line), "");
    let accuracy = place.json("out/summary.json")["test_accuracy"]
        .as_f64()
        .unwrap();
    assert!(accuracy > 0.95, "{accuracy}");
}

#[test]
fn a_run_goes_on_where_nobody_reads_its_progress() {
    let place = Place::new();
    let mut child = std::process::Command::new(program())
        .current_dir(place.path(""))
        .args(format!("run fedavg {SMALL} --eval-every 1 --out out").split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(place.json("out/summary.json")["status"], "complete");
}

#[test]
fn people_get_progress_and_a_table() {
    let place = Place::new();
    let output = place.run("fedavg");
    assert!(output.status.success());
    let (out, err) = (
        String::from_utf8(output.stdout.clone()).unwrap(),
        stderr(&output),
    );
    for part in [
        "test accuracy",
        "class",
        "kept in",
        "runs/fedavg-mnist-seed1",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(err.contains("round 4/4"), "{err}");
    assert!(err.contains("client-steps/s"), "{err}");
}

#[test]
fn the_same_seed_is_the_same_run_on_any_number_of_threads() {
    let place = Place::new();
    for threads in [1, 2] {
        let out = format!("--set fraction=0.5 --threads {threads} --quiet --out t{threads}");
        let output = place.run(&format!("fedprox {out}"));
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert!(place.read("t1/model.safetensors") == place.read("t2/model.safetensors"));
    assert!(
        place
            .run("fedprox --set fraction=0.5 --seed 2 --quiet --out s2")
            .status
            .success()
    );
    assert!(place.read("t1/model.safetensors") != place.read("s2/model.safetensors"));
}

#[test]
fn fed_prox_without_its_term_is_fed_avg() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out avg").status.success());
    assert!(
        place
            .run("fedprox(fedavg) --set mu=0 --quiet --out prox")
            .status
            .success()
    );
    assert!(
        place
            .run("fedprox(fedavg) --set mu=1 --quiet --out mu1")
            .status
            .success()
    );
    assert!(place.read("avg/model.safetensors") == place.read("prox/model.safetensors"));
    assert!(place.read("avg/model.safetensors") != place.read("mu1/model.safetensors"));
}

#[test]
fn flags_win_over_the_file_and_the_file_over_defaults() {
    let place = Place::new();
    let file =
        "spec = \"fedprox\"\nrounds = 2\nseed = 9\n[hyper]\nmu = 0.5\n[hyper.fedavg]\nlr = 0.01\n";
    place.write("c.toml", file.as_bytes());
    let flags = "--data mnist --data-dir data --clients 10 --model logistic --seed 3 --set lr=0.02";
    let text = place.success(&format!("run --config c.toml {flags} --json"));
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["rounds"], 2);
    assert_eq!(summary["seed"], 3);
    assert_eq!(summary["hyper"]["mu"], 0.5);
    assert_eq!(summary["hyper"]["lr"], 0.02);
    assert_eq!(summary["hyper"]["batch"], 10);
    assert_eq!(summary["partition"], "shards:2");
}

#[test]
fn the_default_dataset_needs_no_files() {
    let place = Place::new();
    let text = place.success("run fedprox --rounds 2 --json");
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["data"], "synth-digits");
    assert_eq!(summary["model"], "2nn");
    assert_eq!(summary["client_steps"], 200);
}

#[test]
fn clients_models_are_tested_together_if_asked() {
    let place = Place::new();
    let summary = |line: &str| -> Value {
        let text = place.success(&format!("run {line} {SMALL} --json"));
        serde_json::from_str(&text).unwrap()
    };
    let plain = summary("fedavg");
    assert!(plain["ensemble_accuracy"].is_null());
    // All clients have the same model.
    let shared = summary("fedavg --ensemble");
    assert_eq!(shared["ensemble_accuracy"], shared["test_accuracy"]);
    let solo = summary("solo --ensemble");
    // Nobody trains a model on the server.
    assert!(solo["ensemble_accuracy"].as_f64() > Some(0.1) && solo["test_accuracy"].is_null());
}

/// A run that completes no round has no table.
#[test]
fn too_few_clients_are_told_how_many() {
    let place = Place::new();
    let line = "run validated --data mnist --data-dir data --clients 2 --model logistic --rounds 1";
    let text = place.failure(line, 1);
    assert!(
        text.contains("needs at least 6 clients; the run has 2"),
        "{text}"
    );
    let text = place.failure("run fair --data mnist --data-dir data --clients 2", 1);
    assert!(text.contains("it has x, y\n"), "{text}");
}

/// Of a round with a cohort that trains and one that tests.
#[test]
fn explain_adds_up_the_bytes_of_all_cohorts_as_a_run_does() {
    let place = Place::new();
    let rest = "validated --data mnist --data-dir data --clients 6 --model logistic";
    place.success(&format!("run {rest} --rounds 1 --out out"));
    let metrics: Value = serde_json::from_str(&place.text("out/metrics.jsonl")).unwrap();
    let kilobytes = |key: &str| metrics[key].as_f64().unwrap() / 1000.0;
    let (down, up) = (kilobytes("bytes_down"), kilobytes("bytes_up"));
    // Six models and one number down, one model and six numbers up.
    assert_eq!((down, up), (188.404, 31.424));
    let text = place.success(&format!("explain {}", rest.replace(" --data-dir data", "")));
    let total = format!("all cohorts, a round: {down:.1} kB down, {up:.1} kB up");
    assert!(text.contains(&total), "{text}");
}

#[test]
fn a_newcomer_is_reported_on_its_own() {
    let place = Place::new();
    let rest = "--partition iid+rotated:90:60 --newcomer 2:0 --eval-every 1";
    let output = place.run(&format!("fedavg {rest} --out out"));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("newcomer's accuracy"), "{text}");
    let lines = place.text("out/metrics.jsonl");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    for (i, line) in lines.enumerate() {
        // Nine clients of 27 or so examples, one of which trains; then the tenth alone.
        assert_eq!(line["local_accuracy"]["clients"], 9, "{line}");
        assert_eq!(line["newcomer_accuracy"].is_number(), i >= 2, "{line}");
    }
    let summary = place.json("out/summary.json");
    assert_eq!(summary["client_steps"], 3 + 3 + 6 + 6);
    let clients = summary["client_accuracy"].as_array().unwrap();
    assert_eq!(clients[9], summary["newcomer_accuracy"]);
    let evaluated = |run: &str| -> Value {
        serde_json::from_str(&place.success(&format!("eval {run} --client all --json"))).unwrap()
    };
    let found = evaluated("out");
    assert_eq!(found["clients"], summary["local_accuracy"]);
    assert_eq!(found["client_accuracy"], summary["client_accuracy"]);
    // A run that ends before the tenth comes.
    place.run(&format!("fedavg {rest} --goal 0.01 --quiet --out short"));
    let (found, summary) = (evaluated("short"), place.json("short/summary.json"));
    assert!(found["client_accuracy"][9].is_null());
    assert_eq!(found["client_accuracy"], summary["client_accuracy"]);
    let again = "run --config out/config.toml --out again --quiet";
    place.success(again);
    assert_eq!(
        place.read("again/model.safetensors"),
        place.read("out/model.safetensors")
    );
}
