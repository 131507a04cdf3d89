//! Runs whose `config.toml` was edited before they go on.

use crate::interrupted::{metrics, same};
use crate::support::{Place, SMALL, stderr};

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

/// The file of a run with another algorithm: what that one lacks is left out, and said.
#[test]
fn another_algorithm_takes_what_it_has_of_a_file() {
    let place = Place::new();
    place.success(&format!(
        "run fedavg {SMALL} --set lr=0.2 --set momentum=0.5 --quiet --out out"
    ));
    let note = "note: out/config.toml is of `fedavg`; left out of it, because";
    let names = "momentum, weight_decay\n";
    let output = place.output("run scaffold --config out/config.toml --rounds 1 --out other");
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    let why = "`scaffold` lacks them or means something else by them";
    assert!(text.contains(&format!("{note} {why}: {names}")), "{text}");
    let config = place.text("other/config.toml");
    assert!(config.contains("lr = 0.2") && config.contains("spec = \"scaffold\""));
    assert!(!config.contains("momentum"), "{config}");
    // The same of all algorithms of a comparison; one that has them takes them.
    let line = "--config out/config.toml --rounds 1 --seeds 1 --out";
    let output = place.output(&format!("compare scaffold mimelite {line} both"));
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains(&format!(
            "{note} no algorithm here has them with the same meaning: "
        )),
        "{text}"
    );
    let output = place.output(&format!("compare scaffold fedprox {line} one"));
    assert!(!stderr(&output).contains("left out"), "{}", stderr(&output));
    assert!(
        place
            .text("one/fedprox-seed1/config.toml")
            .contains("momentum = 0.5")
    );
    // With its own algorithm nothing is left out, and nothing is said.
    let output = place.output("run --config out/config.toml --rounds 1 --out again");
    assert!(!stderr(&output).contains("left out"), "{}", stderr(&output));
    assert!(place.text("again/config.toml").contains("momentum = 0.5"));

    // What is typed must be there, and so must what a file has for its own algorithm.
    let text = place.failure("run scaffold --config out/config.toml --set momentum=1", 1);
    assert!(
        text.contains("unknown hyper-parameter `momentum` of scaffold"),
        "{text}"
    );
    assert!(!text.contains("(in [hyper]"), "{text}");
    place.write("own.toml", b"spec = \"fedavg\"\n[hyper]\nmu = 1\n");
    let text = place.failure("run --config own.toml", 1);
    assert!(
        text.contains("unknown hyper-parameter `mu` of fedavg")
            && text.contains("(in [hyper] of own.toml)"),
        "{text}"
    );
}

/// A file lists every default, and layers have the same names for different things.
#[test]
fn another_algorithm_takes_nothing_that_means_something_else() {
    let place = Place::new();
    for (spec, set) in [
        ("fedopt", "server_lr=0.05"),
        ("fedprox", "mu=0.25"),
        ("scaffold", "server_lr=0.5"),
    ] {
        let line = "--data mnist --data-dir data --clients 10 --rounds 1 --set lr=0.2 --set";
        let text = place.success(&format!("config {spec} {line} {set}"));
        place.write(&format!("{spec}.toml"), text.as_bytes());
    }
    let of_fedopt: &[&str] = &["rule", "server_lr", "beta1", "beta2", "tau"];
    let (of_fedprox, none): (&[&str], &[&str]) = (&["mu"], &[]);
    for (file, spec, taken, left_out) in [
        ("fedopt", "scaffold", "server_lr = 1.0", of_fedopt),
        ("fedopt", "moon", "tau = 0.5", of_fedopt),
        ("fedprox", "moon", "mu = 1.0", of_fedprox),
        ("fedprox", "fedavgm(fedprox)", "mu = 0.25", none),
        ("scaffold", "fedprox(scaffold)", "server_lr = 0.5", none),
    ] {
        let output = place.output(&format!("config {spec} --config {file}.toml"));
        let (text, config) = (stderr(&output), String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{file}, {spec}: {text}");
        for part in [&format!("\n{taken}"), "\nlr = 0.2"] {
            assert!(config.contains(part), "{file}, {spec}: {part}: {config}");
        }
        let why = format!("`{spec}` lacks them or means something else by them: ");
        let names = text.split_once(&why).map_or("", |(_, names)| names.trim());
        let names: Vec<&str> = names.split(", ").collect();
        for name in left_out {
            assert!(names.contains(name), "{file}, {spec}: {name}: {text}");
        }
        assert_eq!(text.contains("left out"), !left_out.is_empty(), "{text}");
    }

    // The same in a comparison, also where one of its algorithms is the file's.
    let compare = |specs: &str, out: &str| {
        let line = format!("compare {specs} --config fedopt.toml --seeds 1 --quiet --out {out}");
        let output = place.output(&line);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let text = compare("scaffold moon", "others");
    let why = "no algorithm here has them with the same meaning: ";
    let names = text.split_once(why).map_or("", |(_, names)| names);
    let names = names.lines().next().unwrap_or_default();
    for name in of_fedopt {
        assert!(names.split(", ").any(|n| n == *name), "{name}: {text}");
    }
    let note = "note: `scaffold` does not take these from fedopt.toml, because it means something \
                else by them: server_lr\n";
    let text = compare("fedopt scaffold", "both");
    assert!(text.contains(note) && !text.contains("left out"), "{text}");
    for (run, taken) in [
        ("others/scaffold", "server_lr = 1.0"),
        ("others/moon", "tau = 0.5"),
        ("both/scaffold", "server_lr = 1.0"),
        ("both/fedopt", "server_lr = 0.05"),
    ] {
        let config = place.text(&format!("{run}-seed1/config.toml"));
        for part in [&format!("\n{taken}"), "\nlr = 0.2"] {
            assert!(config.contains(part), "{run}: {part}: {config}");
        }
    }
}
