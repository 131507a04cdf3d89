//! A changed algorithm fails its snapshot, with a diff of the lines that changed.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use std::process::Command;

use fedround::algorithms::FedAvg;
use fedround::testing::{Stage, assert_graph_snapshot};
use graph_snapshots::Decay;

fn decay(weight: f32) -> Decay {
    Decay {
        base: FedAvg::default(),
        weight,
    }
}

#[test]
fn as_reviewed() {
    assert_graph_snapshot!("reviewed", decay(0.1), Stage::Box);
}

/// Run by [`a_diff_shows_what_changed`]: with a weight of zero the term is compiled away.
#[test]
#[ignore = "fails, to show how"]
fn changed() {
    assert_graph_snapshot!("reviewed", decay(0.0), Stage::Box);
}

#[test]
fn a_diff_shows_what_changed() {
    let test = Command::new(std::env::current_exe().unwrap())
        .args(["changed", "--exact", "--ignored", "--nocapture"])
        .env("INSTA_UPDATE", "no")
        .env("INSTA_FORCE_PASS", "0")
        .output()
        .unwrap();
    assert!(!test.status.success());
    let text = String::from_utf8_lossy(&test.stdout) + String::from_utf8_lossy(&test.stderr);
    for part in ["reviewed", "-old snapshot", "+new results", "‖w‖²"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The line as it was, and as it is.
    let lines = text.lines().filter(|line| line.contains("w ← w − lr · ∇["));
    assert_eq!(lines.count(), 2, "{text}");
}

#[test]
fn an_unknown_model_is_named() {
    let view = fedround::testing::View::of(Stage::Plan).model("3nn");
    let error = fedround::testing::graph_text(&decay(0.1), view).unwrap_err();
    assert!(error.to_string().contains("did you mean `2nn`"), "{error}");
}
