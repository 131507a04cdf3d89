//! Runs whose `config.toml` was edited before they go on.

use crate::interrupted::{metrics, same};
use crate::support::{Place, SMALL};

/// Replaces a line of a run's file.
fn edit(place: &Place, line: &str, by: &str) {
    let text = place.text("out/config.toml");
    assert!(text.contains(line), "{line}: {text}");
    place.write("out/config.toml", text.replacen(line, by, 1).as_bytes());
}

#[test]
fn a_resumed_run_takes_what_may_change_from_its_file() {
    let place = Place::new();
    let line =
        |out: &str| format!("run fedavg {SMALL} --eval-every 2 --threads 1 --quiet --out {out}");
    place.success(&line("out"));
    place.success(&line("whole").replace("--rounds 4", "--rounds 6"));
    edit(&place, "rounds = 4", "rounds = 6");
    edit(
        &place,
        "threads = 1",
        "threads = 2\ncheckpoint = \"rounds:1\"",
    );
    place.success("resume out --quiet");
    assert_eq!(metrics(&place, "out").len(), 6);
    let config = place.text("out/config.toml");
    for setting in ["rounds = 6", "threads = 2", "checkpoint = \"rounds:1\""] {
        assert!(config.contains(setting), "{setting}: {config}");
    }
    same(&place, "out", "whole");
    // A flag wins over the file.
    edit(&place, "rounds = 6", "rounds = 8");
    place.success("resume out --rounds 7 --quiet");
    assert_eq!(metrics(&place, "out").len(), 7);
    // A file that is not there says nothing.
    std::fs::remove_file(place.path("out/config.toml")).unwrap();
    place.success("resume out --quiet");
    assert!(place.text("out/config.toml").contains("rounds = 7"));
}

#[test]
fn other_edits_are_refused_and_kept() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    let manifest = place.text("out/manifest.json");
    let good = place.text("out/config.toml");
    for (line, by, said) in [
        ("lr = 0.1", "lr = 0.2", "`hyper.lr` is 0.2 now"),
        ("seed = 1", "seed = 2", "`seed` is 2 now"),
        (
            "seed = 1",
            "validation = 0.5\nseed = 1",
            "trained with none until",
        ),
        (
            "rounds = 4",
            "rounds = 3",
            "config.toml, rounds: the run already has 4",
        ),
        ("seed = 1", "seed = one", "out/config.toml: "),
        ("seed = 1", "sede = 1", "unknown key `sede`"),
    ] {
        edit(&place, line, by);
        let edited = place.text("out/config.toml");
        let text = place.failure("resume out", 1);
        assert!(text.contains(said), "{by}: {text}");
        let help = text.split("\nhelp: ").nth(1).unwrap_or_default();
        let way_out = ["delete out/config.toml", "that of the whole run"];
        assert!(way_out.iter().any(|w| help.contains(w)), "{by}: {text}");
        assert_eq!(place.text("out/config.toml"), edited);
        assert_eq!(place.text("out/manifest.json"), manifest);
        place.write("out/config.toml", good.as_bytes());
    }
}

#[test]
fn an_emptied_number_of_a_run_is_as_a_missing_one() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    let number = place.text("out/run-id");
    place.write("out/run-id", b"\n");
    place.success("resume out --rounds 5 --quiet");
    assert_eq!(place.text("out/run-id"), number);
}
