//! Clients' own models that no test example is for: such a run has no accuracy, and says why.

use serde_json::Value;

use crate::support::{Place, in_one_line, stderr};

/// A table of these people's things: the large ones have the label `yes`.
fn table(people: [&str; 2], rows: usize) -> String {
    let mut text = "who,size,label\n".to_owned();
    for i in 0..rows {
        let (who, noise) = (people[i / 2 % 2], i * 7 % 10);
        let (size, label) = [(1, "no"), (5, "yes")][i % 2];
        text += &format!("{who},{size}.{noise},{label}\n");
    }
    text
}

/// Two people train, and the test table has things of two others.
fn place() -> Place {
    let place = Place::new();
    place.write("train.csv", table(["ann", "bob"], 40).as_bytes());
    place.write("test.csv", table(["cat", "dan"], 20).as_bytes());
    place
}

const DATA: &str = "--data csv:train.csv,test.csv --target-column label --client-column who \
                    --partition natural --model logistic --set lr=0.5 --eval-every 1";

const NOTE: &str = "note: no client has test examples of its own";

fn lines(place: &Place, run: &str) -> Vec<Value> {
    let text = place.text(&format!("{run}/metrics.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn a_model_that_nobody_trained_is_not_reported() {
    let place = place();
    let line = format!("run solo {DATA} --rounds 3 --goal 0.1 --target 0.1 --out run");
    let output = place.output(&line);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!(told.matches(NOTE).count(), 1, "{told}");
    let table = in_one_line(&String::from_utf8(output.stdout).unwrap());
    assert!(table.contains("clients' own models - "), "{table}");

    // The initial model, which may well have more than the goal, ends nothing.
    let summary = place.json("run/summary.json");
    assert_eq!(summary["rounds"], 3);
    assert_eq!(summary["accuracy_of"], "clients");
    for key in [
        "accuracy",
        "best_accuracy",
        "best_round",
        "test_accuracy",
        "test_loss",
        "local_accuracy",
        "rounds_to_goal",
        "rounds_to_target",
        "bytes_to_target",
    ] {
        assert!(summary[key].is_null(), "{key}: {summary}");
    }
    let rounds = lines(&place, "run");
    assert_eq!(rounds.len(), 3);
    for round in rounds {
        for key in ["accuracy", "accuracy_of", "test_accuracy"] {
            assert!(round[key].is_null(), "{key}: {round}");
        }
    }

    // `eval` says the same, and tests the model that it is asked for.
    let text = place.success("eval run");
    assert!(
        in_one_line(&text).starts_with("no client has test examples of its own"),
        "{text}"
    );
    let found: Value = serde_json::from_str(&place.success("eval run --client 0 --json")).unwrap();
    let client = &found["client"];
    assert!(client["own"].is_null(), "{found}");
    assert!(client["test"]["accuracy"].as_f64() > Some(0.9), "{found}");
}

#[test]
fn a_model_that_validation_chooses_has_no_test_accuracy() {
    let place = place();
    let line = format!("run solo {DATA} --rounds 2 --validation 0.2 --out run");
    let table = in_one_line(&place.success(&line));
    assert!(table.contains("chosen accuracy -, of round"), "{table}");
    let summary = place.json("run/summary.json");
    assert!(summary["validation_accuracy"].is_number(), "{summary}");
    assert!(summary["chosen_test_accuracy"].is_null(), "{summary}");
}

#[test]
fn a_comparison_has_no_difference_from_it() {
    let place = place();
    let line = format!(
        "compare fedavg solo {DATA} --set fraction=1 --rounds 2 --seeds 2 --quiet --out grid"
    );
    let output = place.output(&line);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    // Once of both seeds, also where nothing else is said.
    assert_eq!(told.matches(NOTE).count(), 1, "{told}");
    let text = place.text("grid/comparison.md");
    for part in [
        "no accuracy of solo: no client has test examples of its own",
        "fewer than two pairs",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("of two measures"), "{text}");
    let found = place.json("grid/comparison.json");
    let [fedavg, solo] = [0_usize, 1].map(|row| &found["algorithms"][row]);
    assert!(fedavg["accuracy"]["mean"].is_number(), "{found}");
    assert_eq!(
        (&fedavg["complete"], &solo["complete"]),
        (&2.into(), &2.into())
    );
    assert!(solo["accuracy"].is_null(), "{found}");
    assert!(solo["rounds_to_target"].is_null(), "{found}");
    assert_eq!(found["differences"][0]["shown"], false);
}

/// Where clients have tests, the server's model is still one that nobody trained.
#[test]
fn perplexity_is_of_a_model_that_was_trained() {
    let place = Place::new();
    place.write_play("plays", ["abcd", "cdab"]);
    let line = "run solo --data leaf:plays --partition natural --model char-lstm --rounds 1 \
                --quiet --out run";
    place.success(line);
    let summary = place.json("run/summary.json");
    assert!(summary["accuracy"].is_number(), "{summary}");
    for key in ["test_loss", "perplexity"] {
        assert!(summary[key].is_null(), "{key}: {summary}");
    }
    assert!(lines(&place, "run")[0]["test_perplexity"].is_null());
}

#[test]
fn data_without_test_examples_has_no_accuracy() {
    let place = Place::new();
    place.write("few.csv", table(["ann", "bob"], 2).as_bytes());
    let line = "run fedavg --data csv:few.csv --target-column label --ignore-column who \
                --clients 1 --partition iid --model logistic --rounds 1 --out run";
    for line in [line, "eval run"] {
        let text = place.success(line);
        assert!(!text.contains("NaN"), "{line}: {text}");
    }
    let round = &lines(&place, "run")[0];
    assert!(
        round["accuracy"].is_null() && round["accuracy_of"].is_null(),
        "{round}"
    );
}
