//! Public examples, and asynchronous rounds, from the command line.

use crate::support::{Place, stderr};

#[test]
fn public_examples_are_set_aside_and_a_config_says_so() {
    let place = Place::new();
    let line =
        "run fedmd --model logistic --data mnist --data-dir data --clients 4 --rounds 2 --quiet";
    let error = place.failure(line, 1);
    assert!(error.contains("public_share"), "{error}");
    assert!(error.contains("--public-share 0.1"), "{error}");
    let error = place.failure(&format!("{line} --public-share 1"), 1);
    assert!(error.contains("above 0 and below 1"), "{error}");

    let output = place.output(&format!("{line} --public-share 0.2 --out one"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.text("one/config.toml").contains("public_share = 0.2"));
    let output = place.output("run --config one/config.toml --quiet --out two");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        place.read("one/clients/0.safetensors"),
        place.read("two/clients/0.safetensors")
    );
    let summary = place.json("one/summary.json");
    // 60 public examples of 300, with 10 scores each, both ways: 4 clients in the second round.
    assert_eq!(summary["bytes_up"], 4 * 60 * 10 * 4);
    assert_eq!(summary["bytes_up"], summary["bytes_down"]);

    let output = place.output("explain fedmd --model logistic");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Public examples are not sent"), "{text}");
}

#[test]
fn updates_arrive_on_the_virtual_clock() {
    let place = Place::new();
    let line =
        "run fedasync --model logistic --data mnist --data-dir data --clients 6 --rounds 6 --quiet";
    let line = format!("{line} --set in_flight=3 --speed lognormal:1:1");
    let output = place.output(&format!("{line} --out one"));
    assert!(output.status.success(), "{}", stderr(&output));
    let metrics = place.text("one/metrics.jsonl");
    let seconds = metrics.lines().map(|line| {
        let round: serde_json::Value = serde_json::from_str(line).unwrap();
        round["virtual_seconds"].as_f64().unwrap()
    });
    assert_eq!(seconds.clone().count(), 6);
    assert!(seconds.sum::<f64>() > 0.0);
    let output = place.output("graph fedasync --at parties");
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("virtual clock"),
        "{}",
        stderr(&output)
    );
}
