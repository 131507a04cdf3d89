//! `fedround bench`: measurements, tables of several, peers' reports, sweeps.

use serde_json::Value;

use crate::support::{Place, stderr};

/// A measurement of a few client-steps.
pub const TINY: &str = "--clients 8 --cohort 2 --examples 20 --rounds 3 --model logistic";

pub fn json(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.success(line)).unwrap()
}

fn number(report: &Value, field: &str) -> f64 {
    report[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field}: {report}"))
}

#[test]
fn a_measurement_is_a_report() {
    let place = Place::new();
    let report = json(&place, &format!("bench {TINY} --out report.json"));
    assert_eq!(report, place.json("report.json"));
    // Two clients of two batches each, two rounds.
    assert_eq!(number(&report, "client_steps"), 8.0);
    assert_eq!(number(&report, "timed_rounds"), 2.0);
    for field in [
        "wall_s",
        "time_to_first_round_s",
        "median_round_s",
        "client_steps_per_s",
    ] {
        assert!(number(&report, field) > 0.0, "{report}");
    }
    assert_eq!(
        (&report["task"], &report["peer"]),
        (&"synth".into(), &"fedround".into())
    );
    assert_eq!(report["device"], "cpu");
    // What a GPU alone has.
    for field in ["device_memory_mb", "reads_per_round", "idle_share"] {
        assert!(report[field].is_null(), "{report}");
    }
}

/// Algorithms whose first rounds draw no cohort, or by a share of another name.
const OTHERS: [&str; 13] = [
    "fada",
    "solo",
    "centralized",
    "fedfed",
    "fedmd",
    "fedasync",
    "oort",
    "adaptive-clip",
    "dp-ftrl",
    "fixed-parties",
    "push-sum",
    "cyclic",
    "split-learning",
];

#[test]
fn every_bundled_algorithm_can_be_measured() {
    let place = Place::new();
    let specs = fedround::algorithms::registry();
    let mut others = vec![];
    for spec in specs.names() {
        if spec == "fair" {
            let error = place.failure(&format!("bench {spec}"), 1);
            assert!(error.contains("no column `protected`"), "{error}");
            continue;
        }
        // Its generator makes it the slowest by far.
        let rounds = if spec == "fedfed" { 1 } else { 2 };
        let line = format!("bench {spec} --clients 20 --examples 10 --rounds {rounds} --model 2nn");
        let output = place.output(&format!("{line} --cohort 2"));
        let report = if output.status.success() {
            serde_json::from_slice(&output.stdout).unwrap()
        } else {
            let error = stderr(&output);
            assert!(
                error.contains("--cohort: expected 2 of 20 clients"),
                "{error}"
            );
            others.push(spec);
            json(&place, &line)
        };
        assert!(number(&report, "params_l2") > 0.0, "{spec}: {report}");
        if spec != "fedavg" {
            assert_eq!(report["options"]["spec"], spec);
        }
    }
    assert_eq!(others, OTHERS);
}

/// Each factor changes the speed alone.
#[test]
fn factors_are_measured_one_by_one() {
    let place = Place::new();
    let rows = json(&place, &format!("bench {TINY} --factors --runs 2"));
    let rows = rows.as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    let expected = [
        "fedround, cpu",
        "--no-fusion",
        "--threads 1",
        "--cohort-batch off",
        "--cohort-batch 8",
        "--evaluate",
    ];
    assert_eq!(names, expected);
    // Each changes what it says.
    let run = |i: usize| &rows[i]["runs"][0];
    let option = |i: usize, name: &str| &run(i)["options"][name];
    for (i, row) in rows.iter().enumerate() {
        let on = |name: &str, at: usize| (option(i, name) == true) == (i == at);
        assert!(on("no_fusion", 1) && on("evaluate", 5), "{row}");
        assert_eq!(run(i)["threads"], if i == 2 { 1 } else { 2 });
    }
    assert_eq!(
        (option(3, "cohort_batch"), option(4, "cohort_batch")),
        (&1.into(), &8.into())
    );
    let norm = number(&rows[0]["runs"][0], "params_l2");
    for row in rows {
        assert_eq!(row["runs"].as_array().unwrap().len(), 2);
        let other = number(&row["runs"][1], "params_l2");
        assert!((other - norm).abs() < 1e-5, "{row}");
    }
    let table = place.success(&format!("bench {TINY} --factors --markdown"));
    assert_eq!(table.lines().count(), 2 + expected.len());
    assert!(table.starts_with("| fedround bench "), "{table}");
    assert!(expected.iter().all(|name| table.contains(name)), "{table}");
}

#[test]
fn a_sweep_is_a_table_and_a_drawing() {
    let place = Place::new();
    let sweep = "--sweep clients=4,16 --markdown --plot clients.svg --out clients.json";
    let table = place.success(&format!("bench {TINY} {sweep}"));
    assert!(table.starts_with("| clients"), "{table}");
    assert!(
        table.contains("\n| 4 ") && table.contains("\n| 16 "),
        "{table}"
    );
    let svg = place.text("clients.svg");
    assert!(
        svg.starts_with("<svg") && svg.contains("peak memory"),
        "{svg}"
    );
    let rows = place.json("clients.json");
    let steps = |i: usize| number(&rows[i]["runs"][0], "client_steps");
    // The cohort stays as it is.
    assert_eq!((steps(0), steps(1)), (8.0, 8.0));
    let cohorts = json(&place, &format!("bench {TINY} --sweep cohort=1,4"));
    assert_eq!(number(&cohorts[1]["runs"][0], "client_steps"), 16.0);
    for (text, said) in [
        ("clients=x", "expected clients=N"),
        ("lr=1", "found `lr=1`"),
    ] {
        let error = place.failure(&format!("bench --sweep {text}"), 2);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn idle_time_is_left_out_on_the_cpu() {
    let place = Place::new();
    let report = json(&place, &format!("bench {TINY} --idle"));
    assert!(report["idle_share"].is_null(), "{report}");
    assert_eq!(number(&report, "client_steps"), 8.0);
    let table = place.success(&format!("bench {TINY} --idle --markdown"));
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let column = lines[0].iter().position(|name| *name == "device idle");
    assert_eq!(lines[2][column.unwrap()], "-", "{table}");
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn idle_time_is_a_share_on_a_gpu() {
    let place = Place::new();
    let device = if cfg!(feature = "cuda") {
        "cuda"
    } else {
        "wgpu"
    };
    let line = format!("bench {TINY} --device {device} --graphs off");
    let idle = number(&json(&place, &format!("{line} --idle")), "idle_share");
    assert!((0.0..=1.0).contains(&idle), "{idle}");
    // It is measured only where that is asked for.
    assert!(json(&place, &line)["idle_share"].is_null());
}

/// Registered clients that do not train cost the indices of their examples.
#[cfg(target_os = "linux")]
#[test]
fn clients_that_do_not_train_cost_little_memory() {
    let place = Place::new();
    let line = "bench --cohort 10 --examples 40 --rounds 2 --model logistic --threads 1";
    let rows = json(&place, &format!("{line} --sweep clients=100,100000"));
    let peak = |i: usize| number(&rows[i]["runs"][0], "peak_rss_mb");
    assert!(
        peak(1) - peak(0) <= 50.0,
        "{} MB, then {} MB",
        peak(0),
        peak(1)
    );
}

#[test]
fn a_measurement_that_fails_says_which() {
    let place = Place::new();
    let error = place.failure("bench nosuch --factors", 1);
    assert!(error.contains("`fedround bench nosuch"), "{error}");
    assert!(
        error.contains("unknown algorithm") || error.contains("no algorithm"),
        "{error}"
    );
    let error = place.failure(&format!("bench {TINY} --sweep cohort=2 --set mu=1"), 1);
    assert!(error.contains("`mu`"), "{error}");
}

#[test]
fn a_cohort_is_drawn_or_refused() {
    let place = Place::new();
    let clients = "--clients 8 --examples 20 --rounds 2 --model logistic";
    for spec in ["centralized", "solo"] {
        let error = place.failure(&format!("bench {spec} {clients} --cohort 2"), 1);
        assert!(
            error.contains("--cohort: expected 2 of 8 clients"),
            "{error}"
        );
    }
    let error = place.failure(&format!("bench {clients} --cohort 9"), 1);
    assert!(
        error.contains("expected 9 of 8 clients in a round"),
        "{error}"
    );
    // On what all clients have: 16 batches, in the round that is timed.
    let report = json(&place, &format!("bench centralized {clients}"));
    assert_eq!(number(&report, "client_steps"), 16.0);
    let report = json(&place, &format!("bench fedaa {clients} --cohort 2"));
    assert_eq!(report["options"]["cohort"], 2);
}

/// A model that diverges has no finite loss, and is measured all the same.
#[test]
fn a_loss_that_is_not_finite_is_no_error() {
    let place = Place::new();
    // After one step, whose own loss is that of the initial model.
    let line = "bench --clients 8 --cohort 2 --examples 10 --rounds 1 --model logistic";
    let rows = json(
        &place,
        &format!("{line} --runs 2 --lr 1e6 --set weight_decay=1e33"),
    );
    let runs = rows[0]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run["test_loss"].is_null()), "{rows}");
}

#[test]
fn one_value_of_a_sweep_is_a_table() {
    let place = Place::new();
    let rows = json(&place, &format!("bench {TINY} --sweep cohort=2"));
    assert_eq!(rows[0]["runs"].as_array().unwrap().len(), 1);
    // `auto` on a machine without GPUs is the CPU.
    let rows = json(&place, &format!("bench {TINY} --factors --device auto"));
    let on_cpu = rows[0]["runs"][0]["device"] == "cpu";
    let names = rows.as_array().unwrap().iter().map(|row| &row["name"]);
    assert_eq!(
        names.filter(|name| *name == "--threads 1").count(),
        usize::from(on_cpu)
    );
}
