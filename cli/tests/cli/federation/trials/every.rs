//! Every bundled algorithm between parties, beside its simulation.
//!
//! `FEDROUND_SPECS` names the algorithms (default: all of them), and `FEDROUND_PARTIES` says at how many
//! parties each runs (default: `1 2 10`). The ten clients are divided among the parties.

use std::env;
use std::time::Instant;

use super::super::processes::{algorithms, difference};
use super::super::refused::{REFUSED, assert_refused};
use super::{Federation, ONE, TEN, TWO};
use crate::superlink::{SuperLink, flower};
use crate::support::{Place, SMALL, real, skipped, stderr};

/// The words of a variable, or these.
fn words(variable: &str, default: &str) -> Vec<String> {
    let text = env::var(variable).unwrap_or_else(|_| default.to_owned());
    text.split_whitespace().map(str::to_owned).collect()
}

fn hosts(parties: &str) -> &'static [&'static str] {
    match parties {
        "1" => ONE,
        "2" => TWO,
        "10" => TEN,
        found => panic!("FEDROUND_PARTIES: expected 1, 2 or 10, found {found}"),
    }
}

/// The algorithm with settings of a small run; `None` without the data that it needs.
fn small(spec: &str) -> Option<String> {
    let settings = match spec {
        // It has three phases.
        "fedfed" => format!("{SMALL} --set distill=1 --set distill_share=1"),
        // It learns from public examples.
        "fedmd" => format!("{SMALL} --public-share 0.2"),
        // Its rounds have dozens of exchanges with a gigabyte in all.
        "fada" => SMALL.replace("--rounds 4", "--rounds 1"),
        // Each batch of each client takes its turn.
        "split-learning" => format!("{} --set steps=2", SMALL.replace("logistic", "2nn")),
        // Their models have layers before the last.
        "lg-fedavg" | "frozen" => SMALL.replace("logistic", "2nn"),
        // The examples are to have a protected attribute.
        "fair" => {
            let dir = real(&["adult"])?;
            let data = format!("--data adult --data-dir {}", dir.display());
            format!("{data} --clients 10 --model logistic --rounds 2 --set batch=100")
        }
        _ => SMALL.to_owned(),
    };
    Some(format!("{spec} {settings} --reproducible-noise"))
}

/// Runs the simulation, and gives its settings. Several clients train in each round, where the algorithm
/// lets one choose how many.
fn simulate(place: &Place, spec: &str, line: &str) -> Result<String, String> {
    let out = format!("--cohort-batch off --quiet --out {spec}");
    let sampled = format!("{line} --set fraction=0.6");
    let first = place.output(&format!("run {sampled} {out}"));
    if first.status.success() {
        return Ok(sampled);
    }
    if !stderr(&first).contains("fraction") {
        return Err(format!("the simulation: {}", stderr(&first)));
    }
    let output = place.output(&format!("run {line} {out}"));
    match output.status.success() {
        true => Ok(line.to_owned()),
        false => Err(format!("the simulation: {}", stderr(&output))),
    }
}

/// Runs an algorithm at these parties, and says how it differs from its simulation.
fn compare(server: &SuperLink, spec: &str, parties: &[String]) -> Vec<String> {
    let Some(line) = small(spec) else {
        skipped(&format!("{spec}, without its data"));
        return vec![];
    };
    let place = Place::new();
    let line = match simulate(&place, spec, &line) {
        Ok(line) => line,
        Err(why) => return vec![format!("{spec}: {why}")],
    };
    let mut wrong = vec![];
    for n in parties {
        let hosts = match (spec, n.as_str()) {
            // It has one client.
            ("centralized", "1") => &["0"][..],
            ("centralized", _) => {
                skipped(&format!("{spec} at {n} parties: it has one client"));
                continue;
            }
            (_, n) => hosts(n),
        };
        let start = Instant::now();
        let federation = Federation {
            place: &place,
            address: server.address(),
            line: line.clone(),
            hosts,
            // On a busy machine ten parties take their time, and nobody is to be left out.
            waits: "--deadline 3000",
            name: format!("{spec}-{n}"),
        };
        let ran = federation.try_run();
        let result = ran.and_then(|()| difference(&place, &federation.name, spec));
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(()) => println!("{spec}, {n} parties: equal, {seconds:.1} s"),
            Err(why) => {
                println!("{spec}, {n} parties: {why}, {seconds:.1} s");
                wrong.push(format!("{spec}, {n} parties: {why}"));
            }
        }
    }
    wrong
}

#[test]
#[ignore = "takes minutes"]
fn every_algorithm_equals_its_simulation() {
    let Some(programs) = flower() else { return };
    let server = SuperLink::open(&programs);
    let place = Place::new();
    let known = algorithms(&place);
    let parties = words("FEDROUND_PARTIES", "1 2 10");
    let mut wrong = vec![];
    for spec in words("FEDROUND_SPECS", &known.join(" ")) {
        assert!(known.contains(&spec), "no algorithm is named {spec}");
        match REFUSED.iter().find(|(refused, _)| *refused == spec) {
            Some((_, why)) => {
                assert_refused(&place, &spec, why);
                println!("{spec}: refused");
            }
            None => wrong.extend(compare(&server, &spec, &parties)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
