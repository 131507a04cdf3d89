//! How examples became inputs is kept with the model: it can be used without its data, and on other data.

use serde_json::Value;

use crate::support::Place;

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
            &format!("{flag} says how the data of --data is read"),
            "help: leave",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    // The table changes, and vanishes.
    place.write("tr.csv", table(["dog", "eel"], 5.0, 80, false).as_bytes());
    let text = place.failure("eval out", 1);
    assert!(text.contains("no longer what out was trained on"), "{text}");
    std::fs::remove_file(place.path("tr.csv")).unwrap();
    place.write("rows.csv", b"kind,height\nx,171\ny,182\n");
    let found: Value = serde_json::from_str(&place.success("predict out rows.csv")).unwrap();
    let classes = [0, 1].map(|i| found[i]["class"].as_str().unwrap().to_owned());
    assert_eq!(classes, ["cat", "dog"]);
    place.success("export out --to model.pt");
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
