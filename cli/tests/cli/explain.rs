//! What `fedround explain` counts, and runs that count the same.

use serde_json::Value;

use crate::support::{Place, SMALL, in_one_line};

fn explained(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.success(&format!("explain {line} --json"))).unwrap()
}

/// A cohort that trains, and one that tests on a batch that is larger than what a client has.
#[test]
fn work_is_that_of_each_cohort() {
    let place = Place::new();
    let text = in_one_line(&place.success("explain validated --clients 10"));
    for part in [
        "a client of cohort 1, a round: 564.4 MFLOP",
        // 600 of 1000 examples of 398.5 MFLOP.
        "a client of cohort 2, a round: 239.1 MFLOP",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Who trains takes as long, whatever those who only test have to do.
#[test]
fn the_time_of_a_client_is_that_of_its_cohort() {
    let place = Place::new();
    let seconds = |examples: usize| {
        let out = format!("out{examples}");
        place.success(&format!(
            "run validated --data mnist --data-dir data --clients 6 --model logistic --rounds 1 \
             --set validated.examples={examples} --speed constant:1 --quiet --out {out}"
        ));
        let line = place.text(&format!("{out}/metrics.jsonl"));
        let line: Value = serde_json::from_str(line.trim()).unwrap();
        line["virtual_seconds"].as_f64().unwrap()
    };
    let few = seconds(1);
    assert!(few > 0.0);
    assert_eq!(seconds(1000), few);
}

#[test]
fn steps_of_clients_are_not_those_of_the_server() {
    let place = Place::new();
    let small = SMALL.replace("--rounds 4", "--rounds 1");
    let sets = "--set iterations=1 --set fine_tune=2";
    place.success(&format!("run fedaa {small} {sets} --quiet --out out"));
    // Five clients with 27 examples: three steps of ten, and one of the second pass.
    assert_eq!(place.json("out/summary.json")["client_steps"], 5 * (3 + 1));
}

#[test]
fn steps_over_rows_are_marked() {
    let place = Place::new();
    let text = in_one_line(&place.success("explain adcol"));
    for part in [
        "compute4, server, 1× for each batch of rows:",
        "without means and sums: 0 FLOP, without the steps over rows",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = explained(&place, "adcol");
    let segments = json["phases"][0]["segments"].as_array().unwrap();
    let often = |name: &str| {
        let mut all = segments.iter();
        let found = all.find(|segment| segment["name"] == name);
        found.unwrap()["runs_a_round"].clone()
    };
    assert_eq!(often("step1"), 60);
    assert!(often("compute4").is_null());
}

#[test]
fn clients_that_take_turns_are_a_cohort_of_which_one_is_held() {
    let place = Place::new();
    let line = "split-learning --clients 10";
    let text = in_one_line(&place.success(&format!("explain {line}")));
    let held = "Held at once 4F bytes of features of the client whose turn it is; gathered at";
    assert!(text.contains(held), "{text}");
    for line in [line, "cyclic --clients 10"] {
        let json = explained(&place, line);
        let phase = &json["phases"][0];
        assert_eq!(phase["cohort"], 10, "{line}");
        for row in phase["wire"].as_array().unwrap() {
            assert_eq!(row["cohort"], 10, "{line}: {row}");
        }
    }
}

#[test]
fn phases_have_the_names_of_runs() {
    let place = Place::new();
    let json = explained(&place, "fedfed --model logistic");
    let phases = json["phases"].as_array().unwrap().iter();
    let phases: Vec<Value> = phases
        .map(|phase| {
            let of = |key: &str| phase[key].clone();
            Value::from([of("phase"), of("first_round"), of("last_round")].to_vec())
        })
        .collect();
    let expected = serde_json::json!([
        ["fedfed.distill", 1, 15],
        ["fedfed.share", 16, 16],
        ["train", 17, null]
    ]);
    assert_eq!(Value::from(phases), expected);
    let alone = &explained(&place, "fedavg")["phases"][0];
    assert!(alone["phase"].is_null() && alone["first_round"] == 1);
}

#[test]
fn a_vocabulary_that_is_not_known_is_said() {
    let place = Place::new();
    let line = "fedavg --data flickr8k --model captioner-small";
    let text = in_one_line(&place.success(&format!("explain {line}")));
    assert!(
        text.contains("P is of 1,000 words; the data's own"),
        "{text}"
    );
    assert_eq!(explained(&place, line)["nominal_words"], 1000);
    assert!(explained(&place, "fedavg")["nominal_words"].is_null());
}

#[test]
fn a_setting_of_runs_is_said_with_its_switch() {
    let place = Place::new();
    for (line, help) in [
        ("run fedavg --set ensemble=true", "algorithm: --ensemble\n"),
        (
            "explain fedavg --set rounds=3",
            "--rounds VALUE of `fedround run`\n",
        ),
        ("explain fedavg --set clients=3", "--clients VALUE\n"),
    ] {
        let text = place.failure(line, 1);
        assert!(text.contains(help), "{help}: {text}");
    }
    let text = place.failure("run fedavg --set reading=3", 1);
    assert!(!text.contains("--reading"), "{text}");
}

#[test]
fn groups_of_bundled_data_cannot_be_named() {
    let place = Place::new();
    let line = "data partition mnist --data-dir data --partition natural";
    let text = place.failure(line, 1);
    assert!(!text.contains("--client-column"), "{text}");
}

#[test]
fn previews_count_the_classes_that_they_leave_out() {
    let place = Place::new();
    let rows = (0..23).map(|class| format!("{class},c{class}\n").repeat(2));
    let table = format!("x,y\n{}", rows.collect::<String>());
    place.write("many.csv", table.as_bytes());
    let line = "data preview csv:many.csv --target-column y --test-share 0.1 --columns 1";
    let json: Value = serde_json::from_str(&place.success(&format!("{line} --json"))).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 20);
    let left_out = json["left_out"].as_u64().unwrap();
    assert!((1..=3).contains(&left_out), "{json}");
    assert!(place.success(line).contains(" more class"));
}
