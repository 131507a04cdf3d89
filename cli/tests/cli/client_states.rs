//! The file of clients' states in the folders of many runs, which is large and only serves a run that goes on.

use crate::interrupted::same;
use crate::support::{Place, SMALL, stderr};

/// Where there may be one.
fn states(place: &Place, run: &str) -> bool {
    place.path(&format!("{run}/clients.redb")).exists()
}

#[test]
fn a_run_of_a_comparison_leaves_no_states() {
    let place = Place::new();
    let line = format!("compare scaffold fedavg {SMALL} --seeds 1 --out out");
    place.success(&line);
    place.success(&format!(
        "run scaffold {SMALL} --seed 1 --quiet --out alone"
    ));
    assert!(place.path("out/scaffold-seed1/checkpoints").exists());
    assert!(!states(&place, "out/scaffold-seed1") && states(&place, "alone"));
    same(&place, "out/scaffold-seed1", "alone");
    place.success("resume alone --rounds 6 --quiet");

    // It cannot go on, and says how to train it again.
    let text = place.failure("resume out/scaffold-seed1 --rounds 6", 1);
    for part in ["clients.redb", "run --config"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // That left it as it was; one that is damaged is run from its start.
    let output = place.output(&line);
    assert!(stderr(&output).contains("2 of 2 runs are there already"));
    place.write("out/scaffold-seed1/model.safetensors", b"broken");
    let output = place.output(&line);
    let text = stderr(&output);
    assert!(text.contains("out/scaffold-seed1 starts again: "), "{text}");
    assert!(!states(&place, "out/scaffold-seed1"));
    place.success(&format!(
        "run scaffold {SMALL} --seed 1 --quiet --out again"
    ));
    same(&place, "out/scaffold-seed1", "again");
}

#[test]
fn a_candidate_of_halving_keeps_its_states() {
    let place = Place::new();
    let line = |rest: &str| {
        format!("sweep scaffold {SMALL} --grid lr=0.001,0.1 --seeds 1 --validation 0.2 {rest}")
    };
    let output = place.output(&line("--halving 2 --out halved"));
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    assert!(!notes.contains("starts again"), "{notes}");
    let runs = ["scaffold-lr-0-001-seed1", "scaffold-lr-0-1-seed1"];
    assert!(
        runs.iter()
            .all(|run| states(&place, &format!("halved/{run}")))
    );
    // The rest of a survivor's rounds is that of a run which never stopped.
    place.success(&line("--quiet --out whole"));
    assert!(
        runs.iter()
            .all(|run| !states(&place, &format!("whole/{run}")))
    );
    let rounds = |run: &str| place.json(&format!("halved/{run}/summary.json"))["rounds"].clone();
    let survivor = runs.iter().find(|run| rounds(run) == 4).unwrap();
    let trained = |dir: &str| place.read(&format!("{dir}/{survivor}/model.safetensors"));
    assert!(trained("halved") == trained("whole"));
}
