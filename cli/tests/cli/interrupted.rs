//! Runs that are stopped from outside, and whether two folders hold the same run.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, program};

/// Starts the command. Under `nohup`, the tests ignore SIGHUP, and would hand that on.
pub fn start(place: &Place, line: &str) -> Child {
    let mut command = Command::new(program());
    if cfg!(target_os = "linux") {
        command = Command::new("env");
        command.arg("--default-signal=HUP").arg(program());
    }
    let command = command
        .current_dir(place.path(""))
        .args(line.split_whitespace());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until a run has so many rounds.
pub fn wait_for(metrics: &Path, rounds: usize) {
    let start = Instant::now();
    while fs::read_to_string(metrics).map_or(0, |text| text.lines().count()) < rounds {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no round in a minute"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(unix)]
pub fn signal(child: Child, name: &str) -> Output {
    let pid = child.id().to_string();
    let killed = Command::new("kill")
        .args([&format!("-{name}"), &pid])
        .status();
    assert!(killed.unwrap().success());
    child.wait_with_output().unwrap()
}

/// JSON without what measures time, and the folder's name.
fn without_times(mut json: Value) -> Value {
    if let Some(object) = json.as_object_mut() {
        for key in [
            "seconds",
            "total_seconds",
            "checkpoint_seconds",
            "client_steps_per_second",
            "out",
            "threads",
        ] {
            object.remove(key);
        }
    }
    json
}

pub fn metrics(place: &Place, dir: &str) -> Vec<Value> {
    let text = place.text(&format!("{dir}/metrics.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.map(without_times).collect()
}

/// Fails unless two folders hold the same run.
pub fn same(place: &Place, found: &str, expected: &str) {
    let model = |dir: &str| place.read(&format!("{dir}/model.safetensors"));
    assert!(model(found) == model(expected), "another model in {found}");
    assert_eq!(metrics(place, found), metrics(place, expected));
    let clients = |dir: &str| place.files(&format!("{dir}/clients"));
    assert_eq!(clients(found), clients(expected));
    for file in clients(found) {
        let model = |dir: &str| place.read(&format!("{dir}/clients/{file}"));
        assert!(model(found) == model(expected), "another {file} in {found}");
    }
    let summary = |dir: &str| without_times(place.json(&format!("{dir}/summary.json")));
    assert_eq!(summary(found), summary(expected));
}
