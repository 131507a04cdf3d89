//! Data that is missing, damaged or cannot be dealt.

use std::fs;

use crate::bad_input::fails;
use crate::support::{Place, SMALL, labels};

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

/// Such as one that a comma at the end of the header makes.
#[test]
fn a_column_without_values_is_named_to_be_ignored() {
    let place = Place::new();
    place.write("trail.csv", b"a,label,\n1,x,\n3,y,\n,x,\n7,y,\n");
    for missing in ["stop", "drop", "fill"] {
        for line in ["data info", "run fedavg --data"] {
            fails(
                &place,
                &format!("{line} csv:trail.csv --target-column label --missing {missing}"),
                &[
                    "trail.csv: column `column 3` has no value in any row",
                    "help: --ignore-column 'column 3' leaves it out",
                ],
            );
        }
    }
    // Of a column with gaps, rows are left out.
    place.write("gap.csv", b"a,label\n1,x\n3,y\n,x\n7,y\n");
    let line = "data info csv:gap.csv --target-column label";
    fails(
        &place,
        line,
        &["has no value. 1 row lacks", "--missing drop"],
    );
}

/// The classes and the clients cannot be left out.
#[test]
fn a_column_of_classes_or_clients_without_values_is_named_as_what_it_is() {
    let place = Place::new();
    place.write("empty.csv", b"a,label,who,y\n1,x,,\n3,y,,\n5,x,,\n7,y,,\n");
    for missing in ["stop", "drop"] {
        let line = format!("data info csv:empty.csv --missing {missing}");
        fails(
            &place,
            &format!("{line} --target-column y --ignore-column who"),
            &[
                "empty.csv: column `y`, which names the classes, has no value in any row",
                "help: --target-column names the column of classes",
            ],
        );
        fails(
            &place,
            &format!("{line} --target-column label --client-column who --ignore-column y"),
            &[
                "empty.csv: column `who`, which names the clients, has no value in any row",
                "help: --client-column names the column of clients",
            ],
        );
    }
}

/// A target that is something else, too, is a slip: every client would have one class, or there would be nothing to
/// learn.
#[test]
fn a_target_is_neither_the_clients_nor_ignored() {
    let place = Place::new();
    place.write(
        "sales.csv",
        b"amount,shop,fraud\n1,a,yes\n2,b,no\n3,a,no\n4,b,yes\n",
    );
    let line = "--data csv:sales.csv --target-column fraud --clients 2 --partition iid";
    for (flag, expected) in [
        (
            "--client-column fraud",
            [
                "column `fraud` is the target, and the option `client_column` names it, too",
                "--client-column that of clients: change one of them",
            ],
        ),
        (
            "--ignore-column shop --ignore-column fraud",
            [
                "column `fraud` is the target, and the option `ignore` names it, too",
                "leave this column out of --ignore-column",
            ],
        ),
    ] {
        fails(&place, &format!("run fedavg {line} {flag}"), &expected);
    }
}

/// It is told before there is a run, which would have the name of the corrected command.
#[test]
fn only_images_are_augmented() {
    let place = Place::new();
    let rows: String = (0..20).map(|i| format!("{i},{}\n", i % 2)).collect();
    place.write("rows.csv", format!("a,y\n{rows}").as_bytes());
    place.write_play("plays", ["abcd", "cdab"]);
    for (data, model, step) in [
        ("csv:rows.csv --target-column y", "logistic", "crop:2"),
        (
            "csv:rows.csv --target-column y",
            "logistic",
            "normalise:1:2",
        ),
        ("leaf:plays", "char-lstm", "flip"),
    ] {
        let line = format!("run fedavg --data {data} --model {model} --augment {step}");
        let expected = format!("augment: `{step}` changes images, and the examples have none");
        fails(
            &place,
            &format!("{line} --clients 2 --partition iid"),
            &[&expected, "help: leave --augment out"],
        );
    }
}

/// That a kind of data is forgotten says more than that an option does not fit.
#[test]
fn a_forgotten_kind_is_told_before_options_that_do_not_fit() {
    let place = Place::new();
    place.write("people.csv", b"age,income\n1,low\n2,high\n");
    for line in ["run fedavg --data", "data info"] {
        let text = place.failure(&format!("{line} people.csv --target-column income"), 1);
        assert!(text.contains("write `csv:people.csv`"), "{text}");
    }
    fails(
        &place,
        "run fedavg --data mnits --resize 8",
        &["did you mean `mnist`"],
    );
    fails(
        &place,
        "run fedavg --data mnist --resize 8",
        &["the option `resize` does not fit"],
    );
}

/// No other data helps a table of one's own.
#[test]
fn a_table_of_a_header_alone_needs_rows() {
    let place = Place::new();
    place.write("head.csv", b"amount,fraud\n");
    let line = "run fedavg --data csv:head.csv --target-column fraud";
    let text = place.failure(line, 1);
    for part in ["head.csv holds no examples", "a row below the header"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("synth-digits"), "{text}");
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
        (
            "images:photos --resize=0",
            "at least 1 and at most 4096 pixels, found 0",
        ),
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
