//! How examples became inputs is kept with the model: it can be used without its data, and on other data.

use std::fs;

use serde_json::Value;

use crate::support::{Place, stderr};

const TRAIN: &str = "--clients 2 --partition iid --rounds 4 --model logistic --set fraction=1 --set lr=0.5 --quiet --out out";

/// A table of two classes around 170 and 180, with `rows` rows; others have another order of columns and classes.
fn table(names: [&str; 2], shift: f64, rows: usize, turned: bool) -> String {
    let mut text = String::from(if turned {
        "kind,height,label\n"
    } else {
        "height,kind,label\n"
    });
    for i in 0..rows {
        let class = i % 2;
        let height = 170.0 + 10.0 * class as f64 + (i % 5) as f64 + shift;
        let (kind, name) = (["x", "y"][(i / 2) % 2], names[class]);
        text += &match turned {
            true => format!("{kind},{height},{name}\n"),
            false => format!("{height},{kind},{name}\n"),
        };
    }
    text
}

fn accuracy(place: &Place, line: &str) -> f64 {
    let found: Value = serde_json::from_str(&place.success(line)).unwrap();
    found["server"]["accuracy"].as_f64().unwrap()
}

#[test]
fn a_model_of_a_table_outlives_the_table() {
    let place = Place::new();
    place.write("tr.csv", table(["cat", "dog"], 0.0, 80, false).as_bytes());
    place.success(&format!(
        "run fedavg --data csv:tr.csv --target-column label {TRAIN}"
    ));
    assert_eq!(accuracy(&place, "eval out --json"), 1.0);
    let inputs = place.json("out/inputs.json");
    assert_eq!(inputs["classes"], serde_json::json!(["cat", "dog"]));

    // Other rows keep the scale, the columns and the classes of the training: shifted by the distance of the
    // classes, all of them are dogs.
    place.write("high.csv", table(["cat", "dog"], 10.0, 80, true).as_bytes());
    assert_eq!(accuracy(&place, "eval out --data csv:high.csv --json"), 0.5);
    place.write("two.csv", table(["dog", "cat"], 0.0, 80, true).as_bytes());
    assert_eq!(accuracy(&place, "eval out --data csv:two.csv --json"), 0.0);
    place.write(
        "zebra.csv",
        table(["cat", "zebra"], 0.0, 80, false).as_bytes(),
    );
    let text = place.failure("eval out --data csv:zebra.csv", 1);
    assert!(
        text.contains("`zebra`") && text.contains("cat, dog"),
        "{text}"
    );

    // The run's own data is read as the run read it.
    place.success("eval out --target-column label");
    for line in [
        "--test-share 0.5",
        "--normalize none",
        "--ignore-column kind --target-column label",
    ] {
        let text = place.failure(&format!("eval out {line}"), 1);
        let flag = line.split(' ').next().unwrap();
        for part in [
            &format!("{flag} applies only to other data (--data)"),
            "help: leave",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    // The table changes, and vanishes.
    place.write("tr.csv", table(["dog", "eel"], 5.0, 79, false).as_bytes());
    for line in ["eval out", "resume out --rounds 5"] {
        let text = place.failure(line, 1);
        let expected = "`tr.csv` is no longer what out was trained on: expected the classes cat, dog, found dog, eel";
        assert!(text.contains(expected), "{line}: {text}");
    }
    std::fs::remove_file(place.path("tr.csv")).unwrap();
    place.write("rows.csv", b"kind,height\nx,171\ny,182\n");
    let found: Value = serde_json::from_str(&place.success("predict out rows.csv")).unwrap();
    let classes = [0, 1].map(|i| found[i]["class"].as_str().unwrap().to_owned());
    assert_eq!(classes, ["cat", "dog"]);
    place.success("export out --to model.pt");
}

/// Rows that are all shifted alike are the same examples once they are scaled, which is all that a checkpoint knows.
#[test]
fn a_run_does_not_go_on_with_shifted_rows() {
    let place = Place::new();
    let write = |shift: f64| {
        let rows = table(["cat", "dog"], shift, 80, false);
        place.write("tr.csv", rows.as_bytes());
    };
    write(0.0);
    place.success(&format!(
        "run fedavg --data csv:tr.csv --target-column label {TRAIN}"
    ));
    let kept = || ["inputs.json", "manifest.json"].map(|f| place.text(&format!("out/{f}")));
    let before = kept();
    write(64.0);
    for line in ["eval out", "resume out", "resume out --rounds 5"] {
        let text = place.failure(line, 1);
        let expected =
            "`tr.csv` is no longer what out was trained on: its numbers are scaled in another way";
        assert!(text.contains(expected), "{line}: {text}");
    }
    assert_eq!(kept(), before);
    write(0.0);
    place.success("resume out --rounds 5 --quiet");
    assert_eq!(kept()[0], before[0]);
}

/// A run of a comparison, which was killed.
#[test]
fn a_run_of_a_comparison_starts_again_on_shifted_rows() {
    let place = Place::new();
    let train = TRAIN.replace("--quiet --out out", "--checkpoint rounds:1");
    let line = format!("compare fedavg --data csv:tr.csv --target-column label {train} --seeds 1");
    for (shift, again) in [(0.0, false), (0.0, false), (64.0, true)] {
        let rows = table(["cat", "dog"], shift, 80, false);
        place.write("tr.csv", rows.as_bytes());
        let output = place.output(&format!("{line} --out out"));
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        let expected = "out/fedavg-seed1 starts again: `tr.csv` is no longer what out/fedavg-seed1 \
                        was trained on: its numbers are scaled in another way";
        assert_eq!(text.contains(expected), again, "{text}");
        for ended in [
            "comparison.json",
            "fedavg-seed1/manifest.json",
            "fedavg-seed1/summary.json",
        ] {
            fs::remove_file(place.path(&format!("out/{ended}"))).unwrap();
        }
    }
}

#[test]
fn other_data_may_have_fewer_rows_than_the_run_has_clients() {
    let place = Place::new();
    place.write("tr.csv", table(["cat", "dog"], 0.0, 80, false).as_bytes());
    let train = TRAIN.replace("--clients 2", "--clients 4");
    place.success(&format!(
        "run fedavg --data csv:tr.csv --target-column label --validation 0.2 --keep best {train}"
    ));
    // A training row of each class, and one for the test.
    place.write(
        "few.csv",
        b"height,kind,label\n170,x,cat\n171,x,cat\n180,x,dog\n",
    );
    let line = "eval out --data csv:few.csv --test-share 0.5 --json";
    let found: Value = serde_json::from_str(&place.success(line)).unwrap();
    assert_eq!(found["examples"], 1);
}

/// The run's own table is divided as for the run, and so is any data of which a share is asked for.
#[test]
fn all_rows_of_other_data_are_tests() {
    let place = Place::new();
    place.write("tr.csv", table(["cat", "dog"], 0.0, 80, false).as_bytes());
    place.success(&format!(
        "run fedavg --data csv:tr.csv --target-column label --test-share 0.25 {TRAIN}"
    ));
    // The last fifth are dogs that are as tall as cats.
    let short = table(["dog", "cat"], 0.0, 20, false);
    let wrong = short.lines().filter(|line| line.ends_with(",dog"));
    let wrong: Vec<&str> = wrong.collect();
    let right = table(["cat", "dog"], 0.0, 40, false) + &wrong.join("\n") + "\n";
    place.write("te.csv", right.as_bytes());
    let eval = |data: &str| -> Value {
        serde_json::from_str(&place.success(&format!("eval out --json {data}"))).unwrap()
    };
    let found = eval("--data csv:te.csv");
    assert_eq!(found["examples"], 50);
    let server = &found["server"];
    for (value, expected) in [
        (&server["accuracy"], 0.8),
        (&server["class_accuracy"]["cat"], 1.0),
        (&server["class_accuracy"]["dog"], 20.0 / 30.0),
    ] {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() < 1e-9, "{found}");
    }
    for (data, examples) in [
        ("--data csv:te.csv --test-share 0.5", 25),
        ("--data csv:tr.csv,te.csv", 50),
        ("--data csv:tr.csv", 20),
        ("--data csv:tr.csv --test-share 0.25", 20),
        ("--data csv:out/../tr.csv", 20),
        ("", 20),
    ] {
        assert_eq!(eval(data)["examples"], examples, "{data}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path("tr.csv"), place.path("link.csv")).unwrap();
        assert_eq!(eval("--data csv:link.csv")["examples"], 20);
    }
    // In another division, rows that the model was trained on would be tests.
    for line in [
        "csv:tr.csv --test-share 0.5",
        "csv:out/../tr.csv --test-share 0.5",
        "csv:tr.csv --missing drop",
    ] {
        let text = place.failure(&format!("eval out --data {line}"), 1);
        let flag = line.split(' ').nth(1).unwrap();
        let expected = format!("{flag} applies only to other data (--data)");
        assert!(text.contains(&expected), "{line}: {text}");
        assert!(text.contains(&format!("help: leave {flag} out")), "{text}");
    }
    // One row of each class.
    place.write("two.csv", b"height,kind,label\n171,x,cat\n182,y,dog\n");
    let output = place.output("eval out --data csv:two.csv --json");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["examples"], 2);
    assert_eq!(found["server"]["accuracy"], 1.0);
    // Nothing is said of parts.
    assert!(output.stderr.is_empty());
}

#[test]
fn rows_of_numbers_are_scaled_as_in_training() {
    let place = Place::new();
    let row = |i: usize| {
        [
            170.0 + 10.0 * (i % 2) as f64 + (i % 5) as f64,
            70.0 + (i % 7) as f64,
        ]
    };
    let user = |from: usize| {
        let x: Vec<[f64; 2]> = (from..from + 40).map(row).collect();
        let y: Vec<usize> = (from..from + 40).map(|i| i % 2).collect();
        serde_json::json!({ "x": x, "y": y })
    };
    let users = serde_json::json!({ "user_data": { "a": user(0), "b": user(40) } });
    place.write("sizes/all.json", users.to_string().as_bytes());
    place.success(&format!("run fedavg --data leaf:sizes {TRAIN}"));
    assert_eq!(accuracy(&place, "eval out --json"), 1.0);
    let rows: String = (0..10)
        .map(|i| format!("{},{}\n", row(i)[0], row(i)[1]))
        .collect();
    place.write("rows.csv", rows.as_bytes());
    let found: Value = serde_json::from_str(&place.success("predict out rows.csv")).unwrap();
    for (i, one) in found.as_array().unwrap().iter().enumerate() {
        assert_eq!(one["class"], (i % 2).to_string(), "row {i}");
    }
}

#[test]
fn texts_need_a_model_that_reads_them() {
    let place = Place::new();
    place.write_play("play", ["abcd", "efgh"]);
    let text = place.failure(
        "run fedavg --data leaf:play --partition natural --set fraction=1 --rounds 1 --quiet --out out",
        1,
    );
    assert!(text.contains("`2nn` does not read texts"), "{text}");
}
