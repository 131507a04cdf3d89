//! Mistakes that a command line invites, and what is said of them.

use crate::book::reference::subcommands;
use crate::support::{Place, SMALL, in_one_line, stderr};

#[test]
fn a_hyper_parameter_that_changes_nothing_is_refused() {
    let place = Place::new();
    let line = |set: &str, out: &str| {
        let small = SMALL.replace("logistic", "2nn");
        format!("run adcol {small} --set {set} --quiet --out {out}")
    };
    let text = place.failure(&line("fraction=0.2", "dead"), 1);
    assert!(
        text.contains("`adcol` does not use this hyper-parameter"),
        "{text}"
    );
    assert!(text.contains("fedround list adcol"), "{text}");
    // What it uses is taken, and a file may list all of them.
    place.success(&line("share=0.5", "alive"));
    place.success("run --config alive/config.toml --quiet --out again");
    // The default is no mistake.
    place.success(&format!(
        "run fedavg {SMALL} --set fraction=0.1 --quiet --out same"
    ));
}

#[test]
fn every_command_refuses_hyper_parameters_that_change_nothing() {
    let place = Place::new();
    let small = SMALL
        .replace("logistic", "2nn")
        .replace("--rounds 4", "--rounds 1");
    let dead = "`adcol` does not use this hyper-parameter";
    for line in [
        "explain adcol --set fraction=0.2".to_owned(),
        "graph adcol --set fraction=0.2".to_owned(),
        format!("inspect adcol {small} --set fraction=0.2 --out none"),
        format!("compare adcol {small} --set fraction=0.2 --out none"),
        format!("sweep adcol {small} --grid fraction=0.1,0.2 --validation 0.2 --out none"),
    ] {
        let text = place.failure(&line, 1);
        let flag = ["--set", "--grid"]
            .into_iter()
            .find(|flag| line.contains(flag));
        let expected = format!("{} fraction: {dead}", flag.unwrap());
        assert!(text.contains(&expected), "{line}: {text}");
    }
    assert!(!place.path("none").exists());
    // One of several that uses it is enough; the others are named.
    let line = format!("compare fedavg adcol {small} --seeds 1 --set fraction=0.2 --out both");
    let output = place.output(&line);
    assert!(output.status.success(), "{}", stderr(&output));
    let warning = format!("warning: --set fraction: {dead}");
    assert_eq!(stderr(&output).matches(&warning).count(), 1);
    let used = format!("sweep adcol {small} --grid share=0.5,1 --seeds 1 --quiet --out used");
    place.success(&used);
}

/// What is marked is what `--set` refuses, and nothing else.
#[test]
fn hyper_parameters_that_change_nothing_are_marked() {
    let place = Place::new();
    for spec in ["adcol", "lg-fedavg"] {
        let json = place.success(&format!("explain {spec} --json"));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let unused = json["not_used"].as_array().unwrap();
        let unused: Vec<&str> = unused.iter().map(|name| name.as_str().unwrap()).collect();
        let of_base = |name: &str| name.starts_with("fedavg.");
        let all = json["hyper"].as_object().unwrap().iter();
        for (name, value) in all.filter(|(name, _)| of_base(name) || unused.contains(&&***name)) {
            let other = match value {
                serde_json::Value::Number(n) if n.is_u64() => (n.as_u64().unwrap() + 1).to_string(),
                serde_json::Value::Number(n) => (0.5 * n.as_f64().unwrap() + 0.125).to_string(),
                serde_json::Value::Bool(on) => (!on).to_string(),
                _ => continue,
            };
            let output = place.output(&format!("explain {spec} --set {name}={other}"));
            let refused = stderr(&output).contains("does not use this hyper-parameter");
            assert_eq!(refused, unused.contains(&&**name), "{spec} {name}={other}");
        }
    }
    let marked = "not used: `C`: fraction of the clients";
    let fedaa = in_one_line(&place.success("explain fedaa"));
    for text in [
        in_one_line(&place.success("explain adcol")),
        in_one_line(&place.success("list adcol")),
        fedaa,
    ] {
        assert!(text.contains(marked), "{text}");
        assert!(text.contains("--set refuses it"), "{text}");
    }
    let text = place.success("explain fedavg");
    assert!(!text.contains("not used"), "{text}");
    // With other settings, a hyper-parameter may come alive.
    let text = in_one_line(&place.success("explain adcol --set noise=laplace"));
    assert!(!text.contains("adcol.epsilon = 5 not used"), "{text}");
    let text = in_one_line(&place.success("explain adcol"));
    assert!(text.contains("adcol.epsilon = 5 not used"), "{text}");
    let list = place.success("list adcol --json");
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let hyper = |layer: usize, name: &str| {
        let all = list["layers"][layer]["hyper"].as_array().unwrap();
        all.iter().find(|h| h["name"] == name).unwrap()["used"].clone()
    };
    assert_eq!(
        (hyper(1, "fraction"), hyper(1, "lr")),
        (false.into(), true.into())
    );
    let config = place.success("config adcol");
    assert!(config.contains("fraction = 0.1 # not used:"), "{config}");
    assert!(!config.contains("lr = 0.1 #"), "{config}");
    config.parse::<toml::Table>().unwrap();
}

#[test]
fn a_name_of_several_layers_is_the_outermost_ones_and_that_is_said() {
    let place = Place::new();
    let noted = |set: &str| {
        let output = place.output(&format!("explain fedprox(moon) {set}"));
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        let note = "note: --set mu sets fedprox.mu; moon.mu stays 1\n";
        (text.contains("note: --set"), text.contains(note))
    };
    assert_eq!(noted("--set mu=0.5"), (true, true));
    for set in [
        "--set mu=0.5 --set moon.mu=0.1",
        "--set moon.mu=0.1",
        "--set lr=0.5",
    ] {
        assert_eq!(noted(set), (false, false), "{set}");
    }
}

#[test]
fn the_right_switch_is_named() {
    let place = Place::new();
    // A hyper-parameter of some algorithm, and the beginning of a switch.
    let text = place.failure("data info csv:people.csv --target income", 2);
    assert!(
        text.contains("a similar argument exists: '--target-column'"),
        "{text}"
    );
    let text = place.failure("run fedavg --lr 0.1", 2);
    let help = "tip: `lr` is a hyper-parameter of algorithms: --set lr=VALUE";
    assert!(text.contains(help), "{text}");
    let text = place.failure("run fedavg --weight-decay=0.1", 2);
    assert!(text.contains("--set weight_decay=VALUE"), "{text}");
    let text = place.failure("run fedavg --set rounds=3", 1);
    let help = "help: `rounds` is a setting of the run, not of the algorithm: --rounds VALUE";
    assert!(text.contains(help), "{text}");
    assert!(!place.failure("run fedavg --nonsense", 2).contains("--set"));
}

#[test]
fn a_run_that_ends_before_its_last_phase_says_so_first() {
    let place = Place::new();
    let small = SMALL.replace("--rounds 4", "").replace("logistic", "2nn");
    let line = format!("run lg-fedavg {small} --set warm_up=3");
    let output = place.output(&format!("{line} --rounds 2 --out short"));
    let text = stderr(&output);
    let warning = text.find("warning: this run of 2 rounds ends in the phase");
    assert!(
        warning.is_some() && warning < text.find("round 1/2"),
        "{text}"
    );
    assert!(
        text.contains("begins in round 5. Choose --rounds 5 or more"),
        "{text}"
    );
    // These rounds trained the model, and those of FedFed's distillation did not.
    let result = String::from_utf8_lossy(&output.stdout);
    assert!(result.contains("at best"), "{result}");
    let fedfed = "run fedfed --data synth-digits-rgb --model logistic --clients 30 --rounds 1";
    let sizes = "--partition iid --set distill_share=0.01 --eval-every 1 --out distilled";
    let output = place.output(&format!("{fedfed} {sizes}"));
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    // Its generator makes images of another range than those of the data.
    let pixels = "warning: `fedfed` makes images with pixels between 0 and 1, but those of `synth-digits-rgb` are between -2 and 2. --normalize none";
    assert!(notes.contains(pixels), "{notes}");
    assert!(
        notes.contains("round 1/1  fedfed.distill  loss") && notes.contains("accuracy -  "),
        "{notes}"
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("training did not begin") && text.contains("Choose --rounds 17 or more"),
        "{text}"
    );
    assert!(
        !text.contains("at best") && !text.contains("class"),
        "{text}"
    );
    let summary = place.json("distilled/summary.json");
    assert_eq!(summary["training_begins"], 17);
    // Each round says its phase.
    place.success(&format!("{line} --rounds 5 --quiet --out long"));
    let metrics = place.text("long/metrics.jsonl");
    let phase = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["phase"].as_str().unwrap().to_owned()
    };
    let phases: Vec<String> = metrics.lines().map(phase).collect();
    assert!(
        phases[..3]
            .iter()
            .all(|phase| *phase == phases[0] && phase != "train")
    );
    assert_eq!(phases[4], "train");
}

#[test]
fn images_of_another_range_than_the_data_are_said_before_a_run() {
    let place = Place::new();
    let small = SMALL.replace("--rounds 4", "--rounds 1");
    let stderr_of = |line: &str| {
        let output = place.output(&format!("run adfl {small} --set steps=1 --quiet {line}"));
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    // MNIST's pixels are between 0 and 1, as AdFL's are by default.
    let text = stderr_of("--out alike");
    assert!(!text.contains("makes images"), "{text}");
    let text = stderr_of("--normalize 0.5,0.25 --out apart");
    let warning = "but those of `mnist` are between -2 and 2. --set black=-2 --set white=2";
    assert!(text.contains(warning), "{text}");
    let text = stderr_of("--normalize 0.5,0.25 --set black=-2 --set white=2 --out set");
    assert!(!text.contains("makes images"), "{text}");
}

#[test]
fn files_include_files_and_the_merged_one_is_printed() {
    let place = Place::new();
    let base = "spec = \"fedprox\"\nrounds = 3\nclients = 7\n[hyper]\nlr = 0.2\nmu = 0.5\n";
    place.write("base.toml", base.as_bytes());
    let own = "include = [\"base.toml\"]\nrounds = 9\n[hyper]\nmu = 0.25\n";
    place.write("own.toml", own.as_bytes());
    let text = place.success("config --config own.toml --clients 8");
    for part in [
        "spec = \"fedprox\"",
        "rounds = 9",
        "clients = 8",
        "lr = 0.2",
        "mu = 0.25",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    place.write("again.toml", text.as_bytes());
    assert_eq!(place.success("config --config again.toml"), text);
    place.write("loop.toml", b"include = \"loop.toml\"\n");
    assert!(
        place
            .failure("config --config loop.toml", 1)
            .contains("includes itself")
    );
    place.write("none.toml", b"include = \"nowhere.toml\"\n");
    assert!(
        place
            .failure("config --config none.toml", 1)
            .contains("nowhere.toml")
    );
}

#[test]
fn an_algorithm_is_listed_in_full() {
    let place = Place::new();
    let text = place.success("list fedprox(fedavg)");
    for part in [
        "fedprox\n",
        "fedavg\n",
        "arxiv.org",
        "mu",
        "fraction",
        "0.01",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        place
            .failure("list fedprx", 1)
            .contains("did you mean `fedprox`")
    );
}

#[test]
fn shells_and_man_know_every_subcommand() {
    let place = Place::new();
    let names = subcommands(&place.success("--help"));
    assert!(names.len() > 20, "{names:?}");
    // What stands before and after a subcommand's name.
    for (shell, [before, after]) in [
        ("bash", ["fedround,", ")"]),
        ("zsh", ["'", ":"]),
        ("fish", ["-a \"", "\" "]),
    ] {
        let text = place.success(&format!("completions {shell}"));
        for name in &names {
            let expected = format!("{before}{name}{after}");
            assert!(text.contains(&expected), "{shell}: {name}");
        }
    }
    place.success("man pages");
    let pages = names.iter().map(|name| format!("fedround-{name}.1"));
    let mut pages: Vec<String> = pages.chain(["fedround.1".to_owned()]).collect();
    pages.sort_unstable();
    assert_eq!(place.files("pages"), pages);
    assert!(place.text("pages/fedround-sweep.1").contains("grid"));
}
