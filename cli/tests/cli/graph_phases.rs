//! `fedround graph --phase`: one phase of an algorithm with several.

use crate::support::{Place, stderr};

#[test]
fn every_format_can_be_of_any_phase() {
    let place = Place::new();
    let all = place.success("graph fedfed");
    let phases: Vec<&str> = all.split("\n\n").collect();
    assert_eq!(phases.len(), 3);
    for (i, phase) in phases.iter().enumerate() {
        let one = place.success(&format!("graph fedfed --phase {}", i + 1));
        assert_eq!(one.trim_end(), phase.trim_end());
    }
    for format in ["dot", "svg", "json"] {
        let graph = |phase: &str| place.output(&format!("graph fedfed {phase} --format {format}"));
        let drawn = ["--phase 1", "--phase 2", "--phase 3"].map(|phase| {
            let output = graph(phase);
            assert_eq!(stderr(&output), "", "{format} {phase}");
            String::from_utf8(output.stdout).unwrap()
        });
        // Only the first samples by this hyper-parameter, and only the second collects rows.
        let has = |part: &str| drawn.each_ref().map(|text| text.contains(part));
        assert_eq!(has("distill_share"), [true, false, false], "{format}");
        assert_eq!(has("opt.collect"), [false, true, false], "{format}");
        // A document of one phase says so, and which there are.
        let output = graph("");
        let (text, note) = (
            String::from_utf8(output.stdout.clone()).unwrap(),
            stderr(&output),
        );
        assert_eq!(note.is_empty(), format == "svg", "{note}");
        if format != "svg" {
            assert_eq!(text, drawn[2]);
            assert!(
                note.contains("1, phase fedfed.distill, rounds 1 to 15"),
                "{note}"
            );
        }
    }
}

#[test]
fn a_phase_that_is_not_there_is_refused() {
    let place = Place::new();
    let error = place.failure("graph fedfed --phase 4", 1);
    for part in [
        "--phase 4: expected 1, phase fedfed.distill",
        "3, from round 17 on",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = place.failure("graph fedavg --phase 0", 1);
    assert!(
        error.contains("--phase 0: expected 1, all rounds"),
        "{error}"
    );
    assert_eq!(
        place.success("graph fedavg --phase 1"),
        place.success("graph fedavg")
    );
}
