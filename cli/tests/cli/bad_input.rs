//! Bad input: an error and a way out on stderr, the right exit code, and nothing written.

use std::fs;

use crate::support::{Place, SMALL, labels};

/// A failure whose text has all of `parts`, and which leaves no run behind.
fn fails(place: &Place, line: &str, parts: &[&str]) {
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
        &["joins after 4 rounds, and there are 4", "--rounds N"],
    );
    fails(
        &place,
        "run fedprox --newcomer 4",
        &["--newcomer: expected ROUNDS:SHARE", "found `4`"],
    );
    fails(
        &place,
        "run fedprox --clients 1 --newcomer 4:0",
        &["a newcomer joins others, found 1 client"],
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
        &["`discriminator`, but the algorithm applies none of its functions"],
    );
    let text = place.failure("run fedavg --aux discriminator", 2);
    assert!(text.contains("expected NAME=VARIANT after --aux"), "{text}");
}

#[test]
fn hypers_are_checked() {
    let place = Place::new();
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
fn missing_data_says_what_and_how() {
    let place = Place::new();
    let help = ["mnist/train-images-idx3-ubyte", "https://", "synth-digits"];
    // `data` is the folder of every command.
    fails(
        &place,
        "run fedavg --data fashion-mnist",
        &["data/fashion-mnist"],
    );
    fails(
        &place,
        "run fedavg --data mnist --data-dir nowhere",
        &["nowhere", help[0], help[1], help[2]],
    );
    fails(
        &place,
        "run fedavg --data cifar-10 --data-dir data",
        &["cifar-10-batches-bin"],
    );
    fails(&place, "bench --task lr-mnist --data-dir nowhere", &help);
}

#[test]
fn corrupt_data_names_the_file_and_the_bytes() {
    let place = Place::new();
    let (images, label_file) = (
        "data/mnist/train-images-idx3-ubyte",
        "data/mnist/train-labels-idx1-ubyte",
    );
    let whole = place.read(images);

    place.write(images, &whole[..whole.len() - 100]);
    let (expected, found) = (whole.len().to_string(), (whole.len() - 100).to_string());
    let line = format!("run fedavg {SMALL}");
    fails(
        &place,
        &line,
        &["train-images-idx3-ubyte", "truncated", &expected, &found],
    );

    place.write(images, b"\x89PNG and more than sixteen bytes");
    fails(
        &place,
        &line,
        &["train-images-idx3-ubyte", "not an idx file"],
    );

    fs::remove_file(place.path(images)).unwrap();
    place.write(&format!("{images}.gz"), &[0x1f, 0x8b, 8, 0, 0, 0]);
    fails(&place, &line, &["train-images-idx3-ubyte.gz"]);
    fs::remove_file(place.path(&format!("{images}.gz"))).unwrap();
    place.write(images, &whole);

    let mut wrong = labels(300);
    wrong[8 + 7] = 77;
    place.write(label_file, &wrong);
    fails(&place, &line, &["label 77 of example 7 is out of range"]);
}

#[test]
fn partitions_must_fit() {
    let place = Place::new();
    let small = SMALL.replace("--clients 10", "");
    let run = |rest: &str| format!("run fedavg {small} {rest}");
    fails(
        &place,
        &run("--clients 301"),
        &["300 examples to 301 clients"],
    );
    fails(
        &place,
        &run("--clients 200 --partition shards:2"),
        &["400 shards"],
    );
    fails(
        &place,
        &run("--clients 100 --partition dirichlet:0.0001:3"),
        &["too few examples", "dirichlet"],
    );
    fails(&place, &run("--partition shards:0"), &["shards:N"]);
    fails(
        &place,
        &run("--partition dirichlet:-1"),
        &["dirichlet:ALPHA"],
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
        &["the CPU captures no graphs of steps", "--device wgpu"],
    );
}

/// Data of one's own is read before anything is connected or written, by every command that trains on it.
#[test]
fn own_data_is_checked_by_every_command_that_trains() {
    let place = Place::new();
    place.write("sales.csv", b"amount,fraud\n1,yes\n2,no\n3,yes\n4\n");
    place.write("gaps.csv", b"amount,fraud\n1,yes\n,no\n3,yes\n4,no\n");
    place.write("photos/cat/1.png", b"no image");
    place.write("photos/dog/1.png", b"no image");
    place.write(
        "plays/all.json",
        b"{\"user_data\": {\"A\": {\"x\": [\"ab\"], \"y\": []}}}",
    );
    // Nobody listens there.
    let link = "--superlink http://127.0.0.1:9 --clients 2 --state state --partition iid";
    let commands = [
        "inspect fedavg --clients 2 --partition iid --out state".to_owned(),
        format!("coordinator fedavg {link}"),
        format!("party fedavg {link} --host 0"),
        format!("party fedavg {link} --host 0 --own-data"),
    ];
    let cases = [
        (
            "csv:absent.csv --target-column fraud",
            "absent.csv does not exist",
        ),
        ("csv:sales.csv --target-column frau", "did you mean `fraud`"),
        ("csv:sales.csv --target-column fraud", "sales.csv:5:"),
        (
            "csv:gaps.csv --target-column fraud",
            "column `amount` has no value",
        ),
        ("csv:gaps.csv", "a table needs a target"),
        ("images:photos", "photos/"),
        ("images:absent", "does not exist"),
        ("leaf:plays", "user `A`"),
        ("npz:sales.csv", "sales.csv"),
        ("cvs:sales.csv", "unknown kind of data `cvs`"),
        (
            "csv:gaps.csv --target-column fraud --missing=skip",
            "stop, drop or fill",
        ),
        ("images:photos --resize=0", "at least 1, found 0"),
        ("parquet:sales.csv --target-column fraud", "Parquet"),
    ];
    for command in &commands {
        for (data, expected) in cases {
            let text = place.failure(&format!("{command} --data {data}"), 1);
            let line = text.lines().find(|line| line.starts_with("error: "));
            assert!(
                line.is_some_and(|line| line.contains(expected)),
                "{command} --data {data}: {text}"
            );
        }
    }
    assert!(
        place.files("state").is_empty(),
        "{:?}",
        place.files("state")
    );
}
