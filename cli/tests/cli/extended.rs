//! Runs of more rounds that go on where a shorter run was evaluated once more than they are.

use serde_json::Value;

use crate::interrupted::{metrics, same};
use crate::support::{Place, SMALL};

fn line(settings: &str, rounds: usize, out: &str) -> String {
    let small = SMALL.replace("logistic --rounds 4", &format!("2nn --rounds {rounds}"));
    format!("run {small} {settings} --quiet --out {out}")
}

/// A run of 7 rounds that goes on to 10, beside one of 10. Gives the summaries of 7 and of 10 rounds.
fn extended(settings: &str) -> [Value; 2] {
    let place = Place::new();
    place.success(&line(settings, 10, "whole"));
    place.success(&line(settings, 7, "out"));
    let (short, rounds) = (place.json("out/summary.json"), metrics(&place, "out"));
    assert!(rounds[6]["test_accuracy"].is_number(), "{}", rounds[6]);
    // Nothing is left, and nothing changes.
    let model = place.read("out/model.safetensors");
    place.success("resume out --quiet");
    assert_eq!(metrics(&place, "out"), rounds);
    assert!(
        place.read("out/model.safetensors") == model,
        "another model"
    );
    assert_eq!(
        place.json("out/summary.json")["accuracy"],
        short["accuracy"]
    );
    place.success("resume out --rounds 10 --quiet");
    same(&place, "out", "whole");
    [short, place.json("out/summary.json")]
}

#[test]
fn an_evaluation_at_the_end_chooses_no_model_of_more_rounds() {
    let keep = "fedavg --eval-every 5 --validation 0.2 --keep best";
    let [short, long] = extended(keep);
    assert!(short["chosen_round"].is_number(), "{short}");
    assert_ne!(long["chosen_round"], 7, "{long}");
}

/// The first phase ends when an accuracy is reached: here at the first evaluation.
#[test]
fn an_evaluation_at_the_end_ends_no_phase_of_more_rounds() {
    let phases = "lg-fedavg --set warm_up=9 --goal 0.01 --eval-every 8";
    let [short, long] = extended(phases);
    assert_eq!(short["rounds_to_goal"], 7, "{short}");
    assert_eq!(long["rounds_to_goal"], 8, "{long}");
}
