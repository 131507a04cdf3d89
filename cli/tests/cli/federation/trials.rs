//! Trials that take minutes, which `docs/federation.md` reports.
//!
//! ```sh
//! export FEDROUND_FLWR=flower/bin FEDROUND_PROGRAM=target/release/fedround
//! cargo test --workspace --test cli federation::trials -- --ignored --nocapture --test-threads 1
//! ```

mod every;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fedround_random::StreamKey;
use serde_json::Value;

use super::processes::{Process, difference, rounds};
use super::proxy::Proxy;
use crate::superlink::{SuperLink, flower};
use crate::support::{Place, number, stderr};

/// A run of the command as a federation.
struct Federation<'a> {
    place: &'a Place,
    /// Of the SuperLink.
    address: String,
    /// The algorithm and the settings that all sides have.
    line: String,
    /// The clients of each party.
    hosts: &'a [&'a str],
    /// How long the coordinator waits for them.
    waits: &'static str,
    name: String,
}

impl Federation<'_> {
    fn coordinator(&self) -> Process {
        let parties = self.hosts.len();
        let line = format!(
            "coordinator {} --superlink http://{} --state {} --min-parties {parties} {} --quiet",
            self.line, self.address, self.name, self.waits
        );
        Process::start(self.place, &line)
    }

    fn party(&self, host: &str) -> Process {
        let state = format!("{}-{host}", self.name);
        let line = format!(
            "party {} --superlink http://{} --state {state} --host {host} --heartbeat 10 \
             --approve any --quiet",
            self.line, self.address
        );
        Process::start(self.place, &line)
    }

    fn parties(&self) -> Vec<Process> {
        self.hosts.iter().map(|host| self.party(host)).collect()
    }

    /// Ends without a failure, or says which process failed and how.
    fn try_run(&self) -> Result<(), String> {
        let parties = self.parties();
        let limit = Duration::from_secs(600);
        let output = self.coordinator().end_within(limit);
        let output = output.ok_or_else(|| format!("no end in {limit:?}"))?;
        if !output.status.success() {
            return Err(format!("the coordinator: {}", stderr(&output)));
        }
        for party in parties {
            let output = party.kill("-TERM");
            if output.status.code() != Some(143) {
                return Err(format!("a party: {}", stderr(&output)));
            }
        }
        Ok(())
    }

    fn run(&self) {
        let ran = self.try_run();
        ran.unwrap_or_else(|why| panic!("{}: {why}", self.name));
    }
}

const ONE: &[&str] = &["0-9"];
const TWO: &[&str] = &["0-4", "5-9"];
const TEN: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Which process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    SuperLink,
    Coordinator,
    Party,
}

/// Runs a federation of which one process is killed after a time, and started again `away` later.
fn run_with_a_kill(
    federation: &Federation<'_>,
    server: &mut SuperLink,
    victim: Victim,
    (after, away): (Duration, Duration),
) {
    let mut parties = federation.parties();
    let mut coordinator = federation.coordinator();
    std::thread::sleep(after);
    match victim {
        Victim::SuperLink => {
            server.kill();
            std::thread::sleep(away);
            server.restart();
        }
        Victim::Coordinator => {
            coordinator.kill("-KILL");
            std::thread::sleep(away);
            coordinator = federation.coordinator();
        }
        Victim::Party => {
            parties.remove(0).kill("-KILL");
            std::thread::sleep(away);
            parties.push(federation.party(federation.hosts[0]));
        }
    }
    let output = coordinator.end();
    assert!(output.status.success(), "{victim:?}: {}", stderr(&output));
}

#[test]
#[ignore = "takes minutes"]
fn kills_at_random_times_end_in_the_right_model() {
    let Some(programs) = flower() else { return };
    let trials = number("FEDROUND_KILLS", 30);
    let mut random = StreamKey::root(number("FEDROUND_KILLS_SEED", 1)).stream();
    let mut server = SuperLink::open(&programs);
    let place = Place::new();
    let line = "scaffold --data mnist --data-dir data --clients 10 --model logistic --rounds 10 \
                --set fraction=0.6";
    place.success(&format!(
        "run {line} --cohort-batch off --quiet --out simulated"
    ));
    let federation = |name: String, server: &SuperLink| Federation {
        place: &place,
        address: server.address(),
        line: line.to_owned(),
        hosts: TWO,
        waits: "--patience 30 --deadline 30",
        name,
    };
    let start = Instant::now();
    federation("undisturbed".to_owned(), &server).run();
    difference(&place, "undisturbed", "simulated").unwrap();
    let whole = start.elapsed();
    // How many runs ended, and how many of them lost no client in any round.
    let mut results: BTreeMap<Victim, (u64, u64)> = BTreeMap::new();
    for trial in 1..=trials {
        let victims = [Victim::SuperLink, Victim::Coordinator, Victim::Party];
        let victim = victims[(trial % 3) as usize];
        let (after, away) = (
            whole.mul_f64(random.unit()),
            Duration::from_secs(5).mul_f64(random.unit()),
        );
        let federation = federation(format!("trial{trial}"), &server);
        run_with_a_kill(&federation, &mut server, victim, (after, away));
        let rounds = rounds(&place, &federation.name, &["failed", "late"]);
        assert_eq!(rounds.len(), 10, "{}", federation.name);
        let lost = |value: &Value| value.as_array().map_or(0, Vec::len);
        let lost: usize = rounds.iter().flatten().map(lost).sum();
        let equal = difference(&place, &federation.name, "simulated").is_ok();
        println!(
            "{trial}: {victim:?} killed after {:.1} s, away {:.1} s: {lost} clients lost, equal {equal}",
            after.as_secs_f64(),
            away.as_secs_f64()
        );
        // Where all parties answered, the result is that of the simulation.
        assert_eq!(equal, lost == 0, "{}", federation.name);
        let (runs, whole) = results.entry(victim).or_default();
        (*runs, *whole) = (*runs + 1, *whole + u64::from(equal));
    }
    for (victim, (runs, equal)) in results {
        println!("{victim:?}: {runs} runs ended, {equal} with the simulation's result");
    }
}

/// What a round costs beside its computation, with the SuperLink's state in a file and in memory, how many
/// calls it takes, and how much memory a party takes.
#[test]
#[ignore = "a measurement"]
fn cost_of_ten_parties() {
    let Some(programs) = flower() else { return };
    let place = Place::new();
    let line = "fedavg --data mnist --data-dir data --clients 10 --model 2nn --rounds 10 \
                --set fraction=1 --eval-every 10";
    place.success(&format!(
        "run {line} --cohort-batch off --quiet --out simulated"
    ));
    let median = |dir: &str| {
        let mut seconds: Vec<f64> = rounds(&place, dir, &["seconds"])
            .iter()
            .map(|round| round[0].as_f64().unwrap())
            .collect();
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    };
    println!("seconds of a round, medians of 10:");
    println!("  in the simulation: {:.2}", median("simulated"));
    let run = |address: String, name: &str| {
        let federation = Federation {
            place: &place,
            address,
            line: line.replace(" --eval-every 10", ""),
            hosts: TEN,
            waits: "--eval-every 10",
            name: name.to_owned(),
        };
        let parties = federation.parties();
        let output = federation.coordinator().end();
        assert!(output.status.success(), "{}", stderr(&output));
        difference(&place, name, "simulated").unwrap();
        let mut memory: Vec<f64> = parties.iter().map(Process::peak_memory).collect();
        memory.sort_by(f64::total_cmp);
        memory
    };
    let server = SuperLink::open(&programs);
    let memory = run(server.address(), "file");
    println!("  with ten parties, state in a file: {:.2}", median("file"));
    let server = SuperLink::in_memory(&programs);
    run(server.address(), "memory");
    println!("  state in memory: {:.2}", median("memory"));
    println!(
        "peak memory of a party: {:.0} to {:.0} MB; a model has {:.1} MB",
        memory[0],
        memory[9],
        199_210.0 * 4.0 / 1e6
    );
    let proxy = Proxy::before(server.address());
    run(proxy.address(), "counted");
    println!("calls of a run of 10 rounds:");
    for (path, count) in proxy.counts() {
        println!("  {path}: {}", count.calls);
    }
}
