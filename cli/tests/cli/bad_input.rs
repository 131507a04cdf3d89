//! Bad input: an error and a way out on stderr, the right exit code, and nothing written.

use crate::support::{Place, SMALL};

/// A failure whose text has all of `parts`, and which leaves no run behind.
pub fn fails(place: &Place, line: &str, parts: &[&str]) {
    let text = place.failure(line, 1);
    // After notes on the data, if any.
    assert!(text.lines().any(|l| l.starts_with("error: ")), "{text}");
    assert!(text.contains("\nhelp: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in: {text}");
    }
    assert!(place.files("runs").is_empty(), "{line}");
}

#[test]
fn newcomers_join_others_in_time() {
    let place = Place::new();
    fails(
        &place,
        "run fedprox --rounds 4 --newcomer 4:0",
        &[
            "joins after round 4, but the run has only 4 rounds",
            "--rounds N",
        ],
    );
    fails(
        &place,
        "run fedprox --newcomer 4",
        &["--newcomer: expected ROUNDS:SHARE", "found `4`"],
    );
    fails(
        &place,
        "run fedprox --clients 1 --newcomer 4:0",
        &["a late client needs at least one other client; found 1 in all"],
    );
}

#[test]
fn a_goal_is_an_accuracy() {
    let place = Place::new();
    for goal in ["97.5", "0", "-0.5", "NaN"] {
        let line = format!("run fedprox --goal={goal}");
        let expected = "goal: expected a test accuracy above 0 and up to 1, found";
        fails(&place, &line, &[expected, "0.9 is an accuracy of 90 %"]);
    }
}

#[test]
fn unknown_names_give_the_nearest() {
    let place = Place::new();
    fails(
        &place,
        "run fedprx",
        &["unknown algorithm `fedprx`", "did you mean `fedprox`"],
    );
    fails(&place, "run fedprox(fedvag)", &["did you mean `fedavg`"]);
    fails(
        &place,
        "run fedavg(fedprox)",
        &["did you mean `fedprox(fedavg)`"],
    );
    fails(&place, "run fedprox(", &["at character 9 of `fedprox(`"]);
    fails(
        &place,
        "run fedavg --model 2n",
        &["unknown model `2n`", "did you mean `2nn`"],
    );
    fails(
        &place,
        "run fedavg --data synth-digit",
        &["did you mean `synth-digits`"],
    );
    fails(
        &place,
        "run fedavg --partition shard:2",
        &["did you mean `shards`"],
    );
    fails(
        &place,
        "run fedprox --set mue=1",
        &["`mue`", "did you mean `mu`", "fraction"],
    );
    fails(&place, "graph fedprx", &["did you mean `fedprox`"]);
    fails(
        &place,
        "explain fedprox --model cn",
        &["did you mean `cnn`"],
    );
    fails(
        &place,
        "graph fedavg --data mnis",
        &["did you mean `mnist`"],
    );
}

#[test]
fn variants_of_networks_are_checked() {
    let place = Place::new();
    fails(
        &place,
        "graph fedavg --aux critic=mlp",
        &["unknown auxiliary network `critic`", "discriminator"],
    );
    fails(
        &place,
        "run fedavg --aux discriminator=mlp",
        &["--aux chooses a variant of `discriminator`, but this run does not use that network"],
    );
    let text = place.failure("run fedavg --aux discriminator", 2);
    assert!(text.contains("expected NAME=VARIANT after --aux"), "{text}");
}

#[test]
fn hypers_are_checked() {
    let place = Place::new();
    fails(
        &place,
        "run fedavg --set batch=100000000000",
        &["a batch of 100000000000 examples has", "at most 4.3 GB"],
    );
    fails(
        &place,
        "run fedprox --set mu=-1",
        &["`mu`", "≥ 0", "found -1"],
    );
    fails(
        &place,
        "run fedavg --set fraction=1.5",
        &["`fraction`", "[0, 1]", "1.5"],
    );
    fails(&place, "run fedavg --set epochs=0", &["`epochs`", "≥ 1"]);
    fails(&place, "run fedopt --set tau=0", &["`tau`", "found 0"]);
    fails(
        &place,
        "run per-fedavg --set delta=0",
        &["`delta`", "found 0"],
    );
    fails(
        &place,
        "run fedavgm --set server_lr=3e38",
        &["`server_lr`", "[0, 1000000]"],
    );
    fails(
        &place,
        "run fedavg --set epochs=1.5",
        &["`epochs`", "whole number", "1.5"],
    );
    fails(
        &place,
        "run fedavg --set lr=fast",
        &["`lr`", "a number", "fast"],
    );
    fails(&place, "run fedavg --set lr=nan", &["`lr`", "a number"]);
    fails(&place, "run fedprox --set fed_av.lr=1", &["fed_av.lr"]);
}

/// A negative number is a value, and no switch.
#[test]
fn negative_numbers_are_told_what_is_expected() {
    let place = Place::new();
    for switch in ["--seed", "--rounds", "--clients", "--partition-seed"] {
        let text = place.failure(&format!("run fedavg {switch} -1"), 2);
        let tip = format!("tip: {switch} takes a whole number that is not negative");
        for part in ["invalid value '-1'", &tip] {
            assert!(text.contains(part), "{switch}: {text}");
        }
        assert!(!text.contains("'-- -1'"), "{text}");
    }
    let text = place.failure("data preview synth-digits --out -1", 2);
    assert!(!text.contains("whole number"), "{text}");
    let text = place.failure("sweep fedavg --grid lr=1 --seeds -2", 2);
    assert!(text.contains("tip: --seeds takes"), "{text}");
    for (given, expected) in [
        (
            "--deadline -1",
            "deadline: expected seconds above 0, found -1",
        ),
        ("--dropout -0.5", "dropout: expected a probability"),
    ] {
        let text = place.failure(&format!("run fedavg {given}"), 1);
        assert!(text.contains(expected), "{given}: {text}");
    }
    let unknown = "run fedavg --data nothing-near";
    fails(&place, unknown, &["csv:FILE, parquet:FILE, npy:X,Y"]);
}

#[test]
fn usage_is_exit_code_2() {
    let place = Place::new();
    for line in [
        "run",
        "run fedavg --set mu",
        "run fedavg --rounds few",
        "learn",
        "graph",
    ] {
        let text = place.failure(line, 2);
        assert!(text.contains("error: "), "{text}");
    }
    let text = place.failure("run", 2);
    assert!(text.contains("expected SPEC"), "{text}");
}

#[test]
fn config_files_are_checked() {
    let place = Place::new();
    place.write("key.toml", b"spec = \"fedavg\"\nround = 3\n");
    fails(
        &place,
        "run --config key.toml",
        &["key.toml", "`round`", "did you mean `rounds`"],
    );
    place.write("type.toml", b"spec = \"fedavg\"\nrounds = \"many\"\n");
    fails(
        &place,
        "run --config type.toml",
        &["type.toml", "rounds = \"many\""],
    );
    place.write("broken.toml", b"spec = \n");
    fails(&place, "run --config broken.toml", &["broken.toml"]);
    place.write(
        "hyper.toml",
        b"spec = \"fedavg\"\n[hyper]\nlearning_rate = 1\n",
    );
    fails(&place, "run --config hyper.toml", &["learning_rate"]);
    let text = place.failure("run --config none.toml", 1);
    assert!(text.contains("cannot read none.toml"), "{text}");
}

#[test]
fn counts_must_be_positive() {
    let place = Place::new();
    for (flag, name) in [
        ("--rounds 0", "rounds"),
        ("--threads 0", "threads"),
        ("--eval-every 0", "eval_every"),
    ] {
        let text = place.failure(&format!("run fedavg {flag}"), 1);
        assert!(
            text.contains(&format!("{name}: expected at least 1, found 0")),
            "{text}"
        );
    }
    fails(&place, "run fedavg --clients 0", &["at least 1 client"]);
}

#[test]
fn counts_must_be_possible() {
    let place = Place::new();
    let text = place.failure("run fedavg --threads 20000", 1);
    assert!(text.contains("threads: expected at most"), "{text}");
    assert!(text.contains("found 20000"), "{text}");
    let spec = "fedprox(".repeat(10_000) + "fedavg" + &")".repeat(10_000);
    place.write("deep.toml", format!("spec = \"{spec}\"").as_bytes());
    let text = place.failure("run --config deep.toml", 1);
    assert!(
        text.contains("expected at most 32 algorithms inside each other"),
        "{text}"
    );
}

#[test]
fn an_output_folder_that_cannot_be_made_is_an_error() {
    let place = Place::new();
    place.write("file", b"");
    let text = place.failure(&format!("run fedavg {SMALL} --out file/run"), 1);
    assert!(text.contains("cannot create the folder file/run"), "{text}");
    let text = place.failure(&format!("run fedavg {SMALL} --out file"), 1);
    assert!(text.contains("file"), "{text}");
    assert_eq!(place.read("file"), b"");
}

#[test]
fn devices_and_groups_of_clients_are_named() {
    let place = Place::new();
    fails(
        &place,
        "run fedavg --device cpu,flex",
        &["`cpu` is named twice"],
    );
    fails(
        &place,
        "run fedavg --device tpu",
        &[
            "--device",
            "expected `auto`, `cpu`, `wgpu[:N]` or `cuda[:N]`, found `tpu`",
        ],
    );
    if !cfg!(feature = "cuda") {
        fails(&place, "run fedavg --device cuda", &["`--features cuda`"]);
    }
    fails(
        &place,
        "graph fedavg --at fused",
        &["the CPU runs the ops", "--device wgpu"],
    );
    fails(
        &place,
        "graph fedavg --at parties --format svg",
        &["expected `--format text`", "--at linked"],
    );
    fails(
        &place,
        "graph fedavg --at fused --format svg",
        &["expected `--format text`"],
    );
    fails(
        &place,
        "run fedavg --convolutions im2col",
        &["--convolutions", "`unfold` or `split`, found `im2col`"],
    );
    fails(
        &place,
        "run fedavg --precision fp16",
        &[
            "--precision",
            "expected `f32`, `bf16` or `f16`, found `fp16`",
        ],
    );
    fails(
        &place,
        "run fedavg --cohort-batch 0",
        &["--cohort-batch", "found `0`"],
    );
    fails(
        &place,
        "run fedavg --graphs yes",
        &[
            "--graphs",
            "expected `auto`, `off`, `on` or `require`, found `yes`",
        ],
    );
    fails(
        &place,
        "run fedavg --device-data half",
        &[
            "--device-data",
            "expected `auto`, `off` or an amount of memory such as 512MiB, found `half`",
            "2GiB",
        ],
    );
    fails(
        &place,
        "run fedavg --graphs require",
        &["the CPU cannot capture graphs", "--device wgpu"],
    );
}
