//! `fedround inspect`: what the server sees of single clients.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Place, SMALL, stderr};

fn report(place: &Place, line: &str) -> Value {
    let data = "--data mnist --data-dir data --quiet --out out";
    let output = place.output(&format!("inspect {line} {data}"));
    assert!(output.status.success(), "{}", stderr(&output));
    place.json("out/report.json")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_variance_of_local_models_is_drawn_for_each_round() {
    let place = Place::new();
    let found = report(
        &place,
        "fedavg --set fraction=0.5 --clients 10 --model logistic --rounds 4",
    );
    assert_eq!(
        place.files("out"),
        ["report.json", "rounds.csv", "variance.svg"]
    );
    assert!(number(&found["model_variance"]) > 0.0);
    let rounds = place.text("out/rounds.csv");
    assert_eq!(rounds.lines().count(), 1 + 4);
    assert!(
        place
            .text("out/variance.svg")
            .contains("variance of local models")
    );
    // The same run, traffic included.
    place.success(&format!(
        "run fedavg --set fraction=0.5 {SMALL} --quiet --out run"
    ));
    let run = place.json("run/summary.json");
    for key in ["bytes_up", "bytes_down"] {
        assert_eq!(found["phases"][0][key], run[key], "{key}");
    }
    let text = place.failure(&format!("inspect fedavg {SMALL} --out out"), 1);
    assert!(
        text.contains("already holds a run (it has report.json)"),
        "{text}"
    );
}

#[test]
fn representations_are_drawn_in_the_plane() {
    let place = Place::new();
    let found = report(
        &place,
        "adcol --model 2nn --clients 3 --rounds 1 --set epochs=1",
    );
    assert_eq!(found["shared"][0]["shape"], serde_json::json!([200]));
    let picture = place.text("out/1-representations-Alg-1.svg");
    assert!(picture.contains("client 2") && picture.matches("<circle").count() > 200);
}

#[test]
fn images_made_of_models_are_on_a_sheet() {
    let place = Place::new();
    let found = report(
        &place,
        "adfl --clients 10 --model logistic --rounds 1 --set steps=2 --set fraction=0.3",
    );
    let made = &found["shared"][0];
    assert_eq!((&made["rows"], &made["sent"]), (&30.into(), &false.into()));
    let sheet = place.read("out/1-made-on-the-server.png");
    let sheet = image::load_from_memory(&sheet).unwrap();
    // Ten classes of three clients, twice as large, with gaps.
    assert_eq!((sheet.width(), sheet.height()), (10 * 60 + 4, 3 * 60 + 4));
}

#[test]
fn shared_images_are_measured_and_attacked() {
    let place = Place::new();
    let line = "fedfed --clients 4 --model logistic --rounds 3 --set distill=1 --set distill_share=1 \
                --aux generator=resnet --attack";
    let found = report(&place, line);
    let phases = found["phases"].as_array().unwrap();
    let named: Vec<_> = phases.iter().map(|p| p["rounds"].as_u64()).collect();
    assert_eq!(named, [Some(1); 3]);
    // 300 images of 784 numbers and a label each, once up, and all of them to each client.
    assert_eq!(phases[1]["bytes_up"], 300 * 785 * 4);
    let shared = &found["shared"][0];
    assert!(number(&shared["images"]["psnr"]) < 20.0);
    assert!(number(&shared["images"]["frechet"]) > 0.0);
    // Of all, noise tells least of the images.
    let r2 = |i: usize| number(&found["correlations"][i]["r2"]);
    assert!(
        (0..4).all(|i| i == 1 || r2(1) < r2(i)),
        "{}",
        found["correlations"]
    );
    let psnr = |i: usize, of: &str| number(&found["inversion"][i][of]);
    // What hides best is hardest to rebuild, and all are better than as they were given.
    assert!(
        psnr(1, "rebuilt") > psnr(0, "rebuilt"),
        "{}",
        found["inversion"]
    );
    assert!((0..3).all(|i| psnr(i, "rebuilt") > psnr(i, "given")));
    for told in found["membership"].as_array().unwrap() {
        let (recall, auc) = (number(&told["recall"]), number(&told["auc"]));
        assert!((0.0..=1.0).contains(&recall) && (0.0..=1.0).contains(&auc));
    }
    assert!(place.path("out/inversion.png").exists());
}

#[test]
fn nothing_shared_is_nothing_to_attack() {
    let place = Place::new();
    let text = place.failure(&format!("inspect fedavg {SMALL} --quiet --attack"), 1);
    assert!(text.contains("share no images"), "{text}");
    assert!(text.contains("help: "), "{text}");
}

/// On UCI Adult, where it is: in `FEDROUND_DATA`, or beside the repository. With ten clients it was 68 %
/// of race and 87 % of sex.
#[test]
fn a_new_adversary_finds_protected_attributes() {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data"));
    let data = std::env::var_os("FEDROUND_DATA").map_or_else(beside, PathBuf::from);
    if !data.join("adult").is_dir() {
        eprintln!("SKIPPED: no Adult in {}; set FEDROUND_DATA", data.display());
        return;
    }
    let place = Place::new();
    let line = "inspect fair(lg-fedavg) --data adult --clients 2 --partition iid --model 2nn \
                --rounds 1 --set fraction=1 --set lambda=0 --quiet --out out";
    let mut command = place.command(line);
    let output = command.arg("--data-dir").arg(&data).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found = place.json("out/report.json");
    let auc = found["adversary_auc"].as_array().unwrap();
    assert_eq!(auc.len(), 2);
    assert!((0.6..0.8).contains(&number(&auc[0])), "{found}");
    assert!((0.8..0.95).contains(&number(&auc[1])), "{found}");
    // Rows of a table are no images.
    assert_eq!(
        place.files("out"),
        ["report.json", "rounds.csv", "variance.svg"]
    );
}
