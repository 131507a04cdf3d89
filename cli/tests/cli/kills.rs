//! The trial that `docs/reliability.md` reports: runs that are killed at random times.
//!
//! ```sh
//! FEDROUND_KILLS=100 FEDROUND_KILLS_SEED=1 \
//!     cargo test --workspace --test cli kills -- --ignored --nocapture
//! ```
//!
//! `FEDROUND_KILLS_OF="run fedfed --clients 5 --rounds 20"` tries another run, and
//! `FEDROUND_PROGRAM=target/release/fedround` another build.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fedround_random::{Stream, StreamKey};

use crate::interrupted::{same, signal};
use crate::support::{Place, number, program, stderr};

/// A stateful algorithm; the same with almost all states in a file; and one of two phases whose
/// clients have models of their own. A checkpoint after every round, so that many kills fall into a
/// write.
const RUNS: [&str; 3] = [
    "run scaffold --clients 10 --model logistic --rounds 20 --eval-every 5",
    "run scaffold --clients 10 --model logistic --rounds 20 --eval-every 5 --client-memory 10KB",
    "run lg-fedavg(frozen(fedavg)) --set frozen=4 --clients 5 --rounds 8 --eval-every 4",
];

/// What a run folder shows of the moment at which its process was killed.
fn moment(place: &Place, dir: &str, before: &(Vec<String>, usize)) -> &'static str {
    let has = |file: &str| place.path(&format!("{dir}/{file}")).exists();
    let partial = |dir: &str| {
        let mut files = place.files(dir).into_iter();
        files.any(|file| file.ends_with(".partial"))
    };
    let folders = ["", "/checkpoints", "/clients"].map(|folder| format!("{dir}{folder}"));
    let metrics = fs::read(place.path(&format!("{dir}/metrics.jsonl"))).unwrap_or_default();
    match () {
        () if !has("config.toml") => "before the configuration was written",
        () if has("manifest.json") => "after the last file was written",
        () if folders.iter().any(|dir| partial(dir)) => "while a file was written",
        () if has("model.safetensors") => "between files at the end",
        () if metrics.last().is_some_and(|byte| *byte != b'\n') => "in a line of the metrics",
        () if state(place, dir) == *before => "before the first round of its process",
        () if !has("checkpoints") => "before the first checkpoint",
        () => "in a later round",
    }
}

/// The checkpoints and the number of rounds of a folder.
fn state(place: &Place, dir: &str) -> (Vec<String>, usize) {
    let metrics = fs::read_to_string(place.path(&format!("{dir}/metrics.jsonl")));
    let rounds = metrics.map_or(0, |text| text.lines().count());
    (place.files(&format!("{dir}/checkpoints")), rounds)
}

/// Runs the command, and kills it after this time unless it ended before.
fn killed_after(place: &Place, line: &str, time: Duration) -> Option<Output> {
    let mut command = Command::new(program());
    let command = command
        .current_dir(place.path(""))
        .args(line.split_whitespace());
    let start = Instant::now();
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    loop {
        if child.try_wait().unwrap().is_some() {
            return Some(child.wait_with_output().unwrap());
        }
        if start.elapsed() >= time {
            signal(child, "KILL");
            return None;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Begins the run, kills it at a random time, resumes it, kills it again, until it ends by itself.
/// Gives the moments of the kills.
fn survive(place: &Place, line: &str, whole: Duration, times: &mut Stream) -> Vec<&'static str> {
    let (begin, mut moments) = (format!("{line} --out out"), vec![]);
    let mut command = begin.clone();
    loop {
        let before = state(place, "out");
        match killed_after(place, &command, whole.mul_f64(times.unit())) {
            Some(output) => {
                assert!(output.status.success(), "{command}: {}", stderr(&output));
                // One that no kill met is no trial.
                if !moments.is_empty() {
                    return moments;
                }
            }
            None => moments.push(moment(place, "out", &before)),
        }
        let begun = !moments.is_empty() && place.path("out/config.toml").exists();
        if begun {
            command = "resume out --quiet".to_owned();
        } else {
            // Before anything was written but the folder.
            let _ = fs::remove_dir_all(place.path("out"));
            command.clone_from(&begin);
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn kills_at_random_times_leave_the_same_run() {
    let (trials, seed) = (
        number("FEDROUND_KILLS", 100),
        number("FEDROUND_KILLS_SEED", 1),
    );
    let own = env::var("FEDROUND_KILLS_OF").ok();
    let runs = own.as_deref().map_or(RUNS.to_vec(), |own| vec![own]);
    let mut times = StreamKey::root(seed).stream();
    for run in runs {
        let place = Place::new();
        let line = format!("{run} --checkpoint rounds:1 --quiet");
        let start = Instant::now();
        place.success(&format!("{line} --out whole"));
        let whole = start.elapsed();
        let mut moments: BTreeMap<&str, usize> = BTreeMap::new();
        for trial in 1..=trials {
            let fell = survive(&place, &line, whole, &mut times);
            same(&place, "out", "whole");
            println!("run {trial}: {} kills, equal", fell.len());
            for moment in fell {
                *moments.entry(moment).or_default() += 1;
            }
            fs::remove_dir_all(place.path("out")).unwrap();
        }
        let kills: usize = moments.values().sum();
        println!("{run}\n  {trials} runs, {kills} kills, {trials} equal results");
        for (moment, kills) in moments {
            println!("  {kills:4}  {moment}");
        }
    }
}
