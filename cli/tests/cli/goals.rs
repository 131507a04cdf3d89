//! Targets, which are reported, and goals, which end a phase.

use serde_json::Value;

use crate::support::{Place, SMALL, stderr};

#[test]
fn a_target_is_reported_and_the_best_round() {
    let place = Place::new();
    let rest = "--eval-every 1 --partition iid --set fraction=1 --set lr=0.1";
    let run = |target: &str, out: &str| {
        let output = place.run(&format!("fedavg {rest} --target {target} --out {out}"));
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        (text, place.json(&format!("{out}/summary.json")))
    };
    let (text, summary) = run("0.02", "low");
    assert!(text.contains("2.0 % after 1 round"), "{text}");
    assert_eq!(
        (&summary["target"], &summary["rounds_to_target"]),
        (&0.02.into(), &1.into())
    );
    let sent = ["bytes_up", "bytes_down"].map(|key| summary[key].as_u64().unwrap());
    assert_eq!(summary["bytes_to_target"], (sent[0] + sent[1]) / 4);
    let lines = place.text("low/metrics.jsonl");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let accuracies: Vec<f64> = lines
        .map(|l| l["test_accuracy"].as_f64().unwrap())
        .collect();
    let best = accuracies.iter().copied().fold(0.0, f64::max);
    let round = 1 + accuracies.iter().position(|a| *a == best).unwrap();
    assert_eq!(summary["best_test_accuracy"], best);
    assert_eq!(summary["best_round"], round);
    let (text, summary) = run("1", "high");
    assert!(text.contains("not reached") || best == 1.0, "{text}");
    assert_eq!(summary["rounds_to_target"].is_null(), best < 1.0);
    assert!(
        place
            .failure("run fedavg --target 90", 1)
            .contains("found 90")
    );
}

/// The rounds of a run's folder, and its summary.
fn ended(place: &Place, line: &str, out: &str) -> (usize, Value) {
    let small = SMALL.replace(" --rounds 4", "").replace("logistic", "2nn");
    place.success(&format!(
        "run {line} {small} --eval-every 2 --quiet --out {out}"
    ));
    let rounds = place.text(&format!("{out}/metrics.jsonl")).lines().count();
    (rounds, place.json(&format!("{out}/summary.json")))
}

#[test]
fn a_goal_ends_the_first_phase() {
    let place = Place::new();
    let lg = "lg-fedavg --set warm_up=10 --rounds 14";
    let (rounds, reached) = ended(&place, &format!("{lg} --goal 0.02"), "reached");
    // Two of ten rounds, one that hands over, three of the global part.
    assert_eq!((rounds, &reached["rounds"]), (6, &6.into()));
    assert_eq!(reached["status"], "complete");
    assert_eq!(reached["goal"], 0.02);
    assert_eq!(reached["rounds_to_goal"], 2);
    // As if it had been known before.
    let (_, shorter) = ended(&place, "lg-fedavg --set warm_up=2 --rounds 6", "shorter");
    let model = |out: &str| place.read(&format!("{out}/model.safetensors"));
    assert_eq!(model("reached"), model("shorter"));
    assert_eq!(shorter["goal"], Value::Null);
    // The file has it.
    let line = "run --config reached/config.toml --quiet --out again";
    place.success(line);
    assert_eq!(model("again"), model("reached"));
    // A later phase does not end, and a goal that is not reached ends nothing.
    let (rounds, summary) = ended(&place, &format!("{lg} --goal 1"), "far");
    let best = summary["best_test_accuracy"].as_f64().unwrap();
    assert!(best < 1.0, "{best}");
    assert_eq!((rounds, &summary["rounds_to_goal"]), (14, &Value::Null));
    // Without phases it ends the run.
    let (rounds, summary) = ended(&place, "fedavg --rounds 9 --goal 0.02", "one");
    assert_eq!((rounds, &summary["rounds_to_goal"]), (2, &2.into()));
    assert_eq!(summary["status"], "complete");
}

#[test]
fn people_are_told_of_the_goal() {
    let place = Place::new();
    let output = place.run("fedavg --eval-every 1 --goal 0.02");
    let (out, err) = (
        String::from_utf8(output.stdout.clone()).unwrap(),
        stderr(&output),
    );
    assert!(
        err.contains("the goal is reached: 3 rounds left out"),
        "{err}"
    );
    assert!(out.contains("2.0 % reached after 1 round"), "{out}");
    // More rounds are left out like those before.
    let out = place.files("runs").remove(0);
    let more = place.output(&format!("resume runs/{out} --rounds 8"));
    let expected =
        "goes on after 1 round; 0 rounds left, because the goal was reached in round 1\n";
    let err = stderr(&more);
    assert!(more.status.success() && err.contains(expected), "{err}");
    let output = place.run("fedavg --eval-every 1 --goal 1");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.contains("100.0 % not reached in the first phase"),
        "{out}"
    );
}
