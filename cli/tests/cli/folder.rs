//! The run folder: its files, rerunning it, and keeping it.

use std::fs;

use serde_json::Value;

use crate::support::{Place, SMALL, stderr};

const FILES: [&str; 7] = [
    "classes.svg",
    "config.toml",
    "curves.svg",
    "inputs.json",
    "metrics.jsonl",
    "model.safetensors",
    "summary.json",
];
/// The same with the folder of checkpoints, the lock and the manifest.
pub const ALL: [&str; 11] = [
    "checkpoints",
    "classes.svg",
    "config.toml",
    "curves.svg",
    "inputs.json",
    "lock",
    "manifest.json",
    "metrics.jsonl",
    "model.safetensors",
    "run-id",
    "summary.json",
];

pub fn metrics(place: &Place, dir: &str) -> Vec<Value> {
    let text = place.text(&format!("{dir}/metrics.jsonl"));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn metrics_have_a_line_a_round() {
    let place = Place::new();
    assert!(
        place
            .run("fedavg --eval-every 3 --quiet --out out")
            .status
            .success()
    );
    assert_eq!(place.files("out"), ALL);
    let lines = metrics(&place, "out");
    assert_eq!(lines.len(), 4);
    for (i, line) in lines.iter().enumerate() {
        let keys: Vec<&str> = line
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let expected = [
            "round",
            "train_loss",
            "accuracy",
            "accuracy_of",
            "test_loss",
            "test_accuracy",
            "class_accuracy",
            "local_accuracy",
            "bytes_up",
            "bytes_down",
            "seconds",
        ];
        assert_eq!(keys, expected);
        assert_eq!(line["round"], i + 1);
        assert!(line["train_loss"].is_number());
        // Rounds 3 and 4: every third and the last.
        assert_eq!(line["test_accuracy"].is_null(), i < 2, "{line}");
    }
    let summary = place.json("out/summary.json");
    assert_eq!(lines[3]["test_loss"], summary["test_loss"]);
}

#[test]
fn the_config_runs_again_bit_for_bit() {
    let place = Place::new();
    assert!(
        place
            .run("fedprox --set mu=0.3 --seed 5 --quiet --out a")
            .status
            .success()
    );
    place.success("run --config a/config.toml --quiet --out b");
    assert!(place.read("a/model.safetensors") == place.read("b/model.safetensors"));
    assert_eq!(place.text("a/config.toml"), place.text("b/config.toml"));
    let (a, b) = (place.json("a/summary.json"), place.json("b/summary.json"));
    for key in [
        "test_accuracy",
        "test_loss",
        "train_loss",
        "class_accuracy",
        "client_steps",
    ] {
        assert_eq!(a[key], b[key], "{key}");
    }
}

/// Results depend on it, so that a run folder has it.
#[test]
fn exact_convolutions_are_written_down() {
    let place = Place::new();
    let written = |dir: &str| {
        let config = place.text(&format!("{dir}/config.toml"));
        config.contains("\nexact_conv = true\n")
    };
    place.success(&format!("run fedavg {SMALL} --quiet --exact-conv --out a"));
    place.success("run --config a/config.toml --quiet --out b");
    place.success(&format!("run fedavg {SMALL} --quiet --out c"));
    assert!(written("a") && written("b") && !written("c"));
}

#[test]
fn unnamed_folders_take_the_next_free_name() {
    let place = Place::new();
    for _ in 0..3 {
        assert!(place.run("fedprox(fedavg) --quiet").status.success());
    }
    let name = "fedprox-fedavg-mnist-seed1";
    let expected = [name.to_owned(), format!("{name}-2"), format!("{name}-3")];
    assert_eq!(place.files("runs"), expected);
}

#[test]
fn a_folder_with_a_run_is_never_written_to() {
    let place = Place::new();
    assert!(place.run("fedavg --quiet --out out").status.success());
    let before: Vec<Vec<u8>> = FILES
        .iter()
        .map(|f| place.read(&format!("out/{f}")))
        .collect();
    let text = place.failure(&format!("run fedprox {SMALL} --out out"), 1);
    assert!(text.contains("error: `out` already holds a run"), "{text}");
    assert!(text.contains("help: choose another --out"), "{text}");
    let after: Vec<Vec<u8>> = FILES
        .iter()
        .map(|f| place.read(&format!("out/{f}")))
        .collect();
    assert!(before == after);

    // One file of a run is enough; other files are nobody's business.
    fs::create_dir(place.path("part")).unwrap();
    place.write("part/metrics.jsonl", b"{}\n");
    let text = place.failure(&format!("run fedprox {SMALL} --out part"), 1);
    assert!(text.contains("metrics.jsonl"), "{text}");
    fs::create_dir(place.path("other")).unwrap();
    place.write("other/notes.txt", b"mine");
    assert!(place.run("fedavg --quiet --out other").status.success());
    assert_eq!(place.read("other/notes.txt"), b"mine");
}

#[test]
fn a_run_that_diverges_keeps_what_it_has() {
    let place = Place::new();
    let text = place.failure(
        &format!("run fedavg {SMALL} --set lr=1e6 --set weight_decay=1e6 --set epochs=9 --quiet --out out"),
        1,
    );
    assert!(text.contains("error: round "), "{text}");
    assert!(text.contains("lower the learning rate"), "{text}");
    assert!(
        text.contains("help: ") && text.contains("kept in out"),
        "{text}"
    );
    // No round was complete: there is no accuracy of classes to draw.
    assert!(metrics(&place, "out").is_empty());
    // Nor is there a model: it would be the one that the run began with.
    let mut files = ALL[2..].to_vec();
    files.retain(|file| !["curves.svg", "inputs.json", "model.safetensors"].contains(file));
    assert_eq!(place.files("out"), files);
    let summary = place.json("out/summary.json");
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["rounds"], metrics(&place, "out").len());
}

#[cfg(unix)]
#[test]
fn ctrl_c_finishes_the_round_and_writes_everything() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use crate::support::program;

    let place = Place::new();
    let line = format!("run fedavg {SMALL} --out out").replace("--rounds 4", "--rounds 10000000");
    let mut command = Command::new(program());
    command
        .current_dir(place.path(""))
        .args(line.split_whitespace());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while fs::read_to_string(place.path("out/metrics.jsonl")).map_or(0, |t| t.lines().count()) < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no round in a minute"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert_eq!(place.files("out"), ALL);
    let summary = place.json("out/summary.json");
    let rounds = metrics(&place, "out").len();
    assert_eq!(summary["status"], "interrupted");
    assert_eq!(summary["rounds"], rounds);
    assert!(summary["test_accuracy"].is_number());
    assert!(
        text.contains(&format!("{rounds} rounds are kept in out")),
        "{text}"
    );
}

#[test]
fn clients_whose_updates_are_not_finite_are_named() {
    let place = Place::new();
    let line = format!("run scaffold {SMALL} --set lr=0 --quiet --out out");
    let text = place.failure(&line, 1);
    assert!(text.contains("no client has a finite update"), "{text}");
    assert!(text.contains("lower the learning rate"), "{text}");
    assert_eq!(place.json("out/summary.json")["status"], "failed");
    let line = format!("run scaffold {SMALL} --set lr=0 --on-nan stop --quiet --out stop");
    let text = place.failure(&line, 1);
    assert!(text.contains(" of client"), "{text}");
    let text = place.failure(&format!("run scaffold {SMALL} --on-nan keep"), 1);
    assert!(
        text.contains("expected `skip` or `stop`, found `keep`"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_of_folders_need_not_be_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new();
    for line in ["run", "compare"] {
        let mut command = place.command(&format!("{line} fedavg {SMALL} --quiet --out"));
        let name = [line.as_bytes(), b"\xff"].concat();
        let output = command.arg(OsStr::from_bytes(&name)).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
}
