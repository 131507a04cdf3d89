//! Noise of differential privacy: where it comes from, and what a run says of it.

use crate::support::{Place, SMALL, stderr};

/// ADCOL with Laplace noise of ε = 5 on each representation.
const RUN: &str = "run adcol --set noise=laplace --set epsilon=5 --data mnist --data-dir data --clients 4 \
                   --model logistic --rounds 2 --eval-every 2 --quiet";

#[test]
fn noise_differs_each_time_unless_the_run_is_an_experiment() {
    let place = Place::new();
    for out in ["a", "b"] {
        place.success(&format!("{RUN} --out {out}"));
        place.success(&format!("{RUN} --reproducible-noise --out same-{out}"));
    }
    let model = |out: &str| place.read(&format!("{out}/model.safetensors"));
    assert_ne!(model("a"), model("b"));
    assert_eq!(model("same-a"), model("same-b"));
    let noise = |out: &str| place.json(&format!("{out}/summary.json"))["privacy"]["noise"].clone();
    assert_eq!(noise("a"), "system");
    assert_eq!(noise("same-a"), "reproducible");
    let config = place.text("same-a/config.toml");
    assert!(config.contains("reproducible_noise = true"), "{config}");
}

#[test]
fn a_run_says_what_its_noise_comes_to() {
    let place = Place::new();
    place.success(&format!("{RUN} --out out"));
    let privacy = place.json("out/summary.json")["privacy"].clone();
    let metrics = place.text("out/metrics.jsonl");
    let rounds: Vec<f64> = metrics
        .lines()
        .map(|line| {
            let round: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(round["privacy"]["delta"], 0.0, "{line}");
            round["privacy"]["epsilon"].as_f64().expect(line)
        })
        .collect();
    // Rounded up, never down.
    for (found, expected) in rounds.iter().zip([5.0, 10.0]) {
        assert!((expected..expected + 0.01).contains(found), "{rounds:?}");
    }
    assert_eq!(privacy["epsilon"], rounds[1], "{privacy}");
    assert_eq!(privacy["mechanisms"][0]["rounds"], 2, "{privacy}");
    assert_eq!(privacy["mechanisms"][0].get("no_bound"), None);
    place.success(&format!("run fedavg {SMALL} --quiet --out plain"));
    assert_eq!(place.json("plain/summary.json").get("privacy"), None);
}

#[test]
fn delta_is_chosen() {
    let place = Place::new();
    let line = "run dp-sgd --set share=0.05 --data mnist --data-dir data --clients 4 \
                --model logistic --rounds 1";
    let spent = |out: &str| place.json(&format!("{out}/summary.json"))["privacy"].clone();
    let output = place.output(&format!("{line} --quiet --out out"));
    assert!(!stderr(&output).contains("δ"), "{}", stderr(&output));
    let usual = spent("out");
    assert_eq!(usual["delta"], 1e-5);
    let output = place.output(&format!("{line} --delta 0.01 --quiet --out loose"));
    let text = stderr(&output);
    // Of 300 examples.
    let expected = "warning: δ = 1e-2 is not below 1/N of N = 300 examples";
    assert!(
        text.contains(expected) && text.contains("--delta 1e-3"),
        "{text}"
    );
    let loose = spent("loose");
    assert_eq!(loose["delta"], 0.01);
    let epsilon = |spent: &serde_json::Value| spent["epsilon"].as_f64().unwrap();
    assert!(epsilon(&loose) < epsilon(&usual), "{loose} {usual}");
    assert!(place.text("loose/config.toml").contains("delta = 0.01"));
    assert!(!place.text("out/config.toml").contains("delta"));
    place.success("resume loose --rounds 2 --quiet");
    assert_eq!(spent("loose")["delta"], 0.01);
    let text = place.failure(&format!("{line} --delta 1 --out none"), 1);
    assert!(
        text.contains("delta: expected a number above 0 and below 1, found 1"),
        "{text}"
    );
    let text = place.failure("config dp-sgd --delta 5", 1);
    assert!(
        text.contains("delta: expected a number above 0 and below 1, found 5"),
        "{text}"
    );
    let text = place.success("explain dp-sgd --delta 1e-7");
    assert!(text.contains("δ = 1e-7"), "{text}");
}

#[test]
fn experiments_repeat_with_their_noise_unless_asked_otherwise() {
    let place = Place::new();
    let line = RUN.replace("run adcol", "compare adcol");
    let line = line.replace("--rounds 2", "--rounds 1 --seeds 1");
    for out in ["a", "b"] {
        place.success(&format!("{line} --out {out}"));
        place.success(&format!("{line} --system-noise --out system-{out}"));
    }
    let cell = |out: &str, file: &str| format!("{out}/adcol-seed1/{file}");
    let model = |out: &str| place.read(&cell(out, "model.safetensors"));
    assert_eq!(model("a"), model("b"));
    assert_ne!(model("system-a"), model("system-b"));
    let noise = |out: &str| place.json(&cell(out, "summary.json"))["privacy"]["noise"].clone();
    assert_eq!([noise("a"), noise("system-a")], ["reproducible", "system"]);
    // A run of the cell's configuration is the cell.
    place.success(&format!(
        "run --config {} --quiet --out run",
        cell("a", "config.toml")
    ));
    assert_eq!(place.read("run/model.safetensors"), model("a"));
    let text = place.failure(&format!("{line} --system-noise --reproducible-noise"), 2);
    assert!(text.contains("cannot be used with"), "{text}");
    let text = place.success("reproduce adcol plug-ins --dry-run");
    assert!(
        text.lines().all(|run| run.contains("--reproducible-noise")),
        "{text}"
    );
}
