//! The processes of a federation, and the simulation that it has to equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use safetensors::SafeTensors;
use serde_json::Value;

use crate::superlink::SuperLink;
use crate::support::{Place, SMALL, program};

/// Both sides have these.
pub const ROUNDS: &str = "--eval-every 1";

/// A process of the command that is ended with its test.
pub struct Process(Option<Child>);

impl Process {
    pub fn start(place: &Place, line: &str) -> Self {
        let mut command = Command::new(program());
        command
            .current_dir(place.path(""))
            .args(line.split_whitespace());
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self(Some(command.spawn().unwrap()))
    }

    pub fn kill(mut self, signal: &str) -> Output {
        let child = self.0.take().unwrap();
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        child.wait_with_output().unwrap()
    }

    pub fn end(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }

    /// As [`Self::end`]; `None` if it takes longer than this.
    pub fn end_within(mut self, limit: Duration) -> Option<Output> {
        let start = Instant::now();
        let child = self.0.as_mut().unwrap();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > limit {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(self.end())
    }

    /// The most memory that it had so far, in MB.
    pub fn peak_memory(&self) -> f64 {
        let id = self.0.as_ref().unwrap().id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap();
        let kilobytes = line.split_whitespace().nth(1).unwrap();
        kilobytes.parse::<f64>().unwrap() / 1000.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

pub fn coordinator(server: &SuperLink, spec: &str) -> String {
    let link = format!("--superlink http://{}", server.address());
    format!("coordinator {spec} {link} --min-parties 2 {SMALL} {ROUNDS} --state {spec}")
}

pub fn party(place: &Place, server: &SuperLink, spec: &str, host: &str) -> Process {
    let link = format!("--superlink http://{}", server.address());
    let state = format!("--state {spec}-{host} --host {host} --heartbeat 10");
    Process::start(
        place,
        &format!("party {spec} {link} {state} --approve any {SMALL}"),
    )
}

pub fn parties(place: &Place, server: &SuperLink, spec: &str) -> [Process; 2] {
    ["0-4", "5-9"].map(|host| party(place, server, spec, host))
}

/// The simulation that a federation has to equal.
pub fn simulate(place: &Place, spec: &str) -> String {
    let out = format!("{spec}-simulated");
    place.success(&format!(
        "run {spec} {SMALL} {ROUNDS} --cohort-batch off --quiet --out {out}"
    ));
    out
}

/// The names of all bundled algorithms.
pub fn algorithms(place: &Place) -> Vec<String> {
    let list = place.success("list specs");
    let names = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    names.map(first).collect()
}

/// These results of all rounds.
pub fn rounds(place: &Place, dir: &str, keys: &[&str]) -> Vec<Vec<Value>> {
    let text = place.text(&format!("{dir}/metrics.jsonl"));
    let rounds = text.lines().map(|line| {
        let round: Value = serde_json::from_str(line).unwrap();
        keys.iter().map(|key| round[*key].clone()).collect()
    });
    rounds.collect()
}

/// How a federation differs from a simulation in its losses, bytes, accuracies and model, if it does.
pub fn difference(place: &Place, federation: &str, simulation: &str) -> Result<(), String> {
    let keys = [
        "round",
        "train_loss",
        "bytes_up",
        "bytes_down",
        "accuracy",
        "test_loss",
        "class_accuracy",
        "local_accuracy",
    ];
    let [found, expected] = [federation, simulation].map(|dir| rounds(place, dir, &keys));
    for (found, expected) in found.iter().zip(&expected) {
        if found != expected {
            return Err(format!("{keys:?} are {found:?}, not {expected:?}"));
        }
    }
    if found.len() != expected.len() {
        return Err(format!("{} rounds, not {}", found.len(), expected.len()));
    }
    let model = |dir: &str| fs::read(place.path(&format!("{dir}/model.safetensors"))).ok();
    let (found, expected) = (model(federation), model(simulation));
    if found == expected {
        return Ok(());
    }
    let [found, expected] = [found, expected].map(|file| tensors(&file.unwrap_or_default()));
    let names = found.keys().chain(expected.keys());
    let other = names.filter(|name| found.get(*name) != expected.get(*name));
    Err(format!(
        "other tensors: {:?}",
        other.collect::<BTreeSet<_>>()
    ))
}

/// The tensors of a model's file, of which there may be none: the bytes of each by its name.
fn tensors(file: &[u8]) -> BTreeMap<String, Vec<u8>> {
    if file.is_empty() {
        return BTreeMap::new();
    }
    let tensors = SafeTensors::deserialize(file).unwrap().tensors();
    let bytes = tensors.into_iter();
    bytes
        .map(|(name, tensor)| (name, tensor.data().to_vec()))
        .collect()
}
