//! `fedround inspect`: what the server sees of single clients.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, SMALL, program, stderr};

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
        ["report.json", "rounds.csv", "variance.csv", "variance.svg"]
    );
    assert!(number(&found["spreads"][0]["variance"]) > 0.0);
    assert_eq!(found["spreads"][0]["clients"], 5);
    assert_eq!(place.text("out/variance.csv").lines().count(), 1 + 4);
    assert!(
        place
            .text("out/variance.svg")
            .contains("variance over clients")
    );
    // The same run, traffic included.
    place.success(&format!(
        "run fedavg --set fraction=0.5 {SMALL} --quiet --out run"
    ));
    let run = place.json("run/summary.json");
    for key in ["bytes_up", "bytes_down"] {
        assert_eq!(found["phases"][0][key], run[key], "{key}");
    }
    // Bit for bit.
    let mut rounds = csv::Reader::from_path(place.path("out/rounds.csv")).unwrap();
    let rounds = rounds.deserialize::<(usize, usize, f64, u64, u64)>();
    let losses: Vec<f64> = rounds.map(|row| row.unwrap().2).collect();
    let metrics = place.text("run/metrics.jsonl");
    let metrics = metrics
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let run: Vec<f64> = metrics.map(|line| number(&line["train_loss"])).collect();
    assert_eq!((losses.len(), losses), (4, run));
    let text = place.failure(&format!("inspect fedavg {SMALL} --out out"), 1);
    assert!(
        text.contains("already holds a run (it has report.json)"),
        "{text}"
    );
}

/// SCAFFOLD sends control variates, too, which are no models. In the first round it trains as FedAvg.
#[test]
fn every_upload_of_parameters_is_told_apart() {
    let line = "--set fraction=1 --clients 5 --model logistic --rounds 1";
    let variances = |spec: &str| -> Vec<f64> {
        let found = report(&Place::new(), &format!("{spec} {line}"));
        let spreads = found["spreads"].as_array().unwrap();
        assert!(
            spreads
                .iter()
                .all(|s| s["sent"].as_str().unwrap().starts_with("parameters from ")),
            "{found}"
        );
        spreads.iter().map(|s| number(&s["variance"])).collect()
    };
    let (fedavg, scaffold) = (variances("fedavg"), variances("scaffold"));
    assert_eq!((fedavg.len(), scaffold.len()), (1, 2));
    let same = |v: &&f64| (*v / fedavg[0] - 1.0).abs() < 1e-3;
    assert_eq!(
        scaffold.iter().filter(same).count(),
        1,
        "{fedavg:?} {scaffold:?}"
    );
}

#[test]
fn one_client_is_not_apart() {
    let place = Place::new();
    let found = report(&place, "fedavg --clients 10 --model logistic --rounds 2");
    assert_eq!(found["spreads"], serde_json::json!([]));
    assert_eq!(place.files("out"), ["report.json", "rounds.csv"]);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("out/rounds.csv")).unwrap();
    let text = place.failure(&format!("inspect fedavg {SMALL} --quiet --out out"), 1);
    assert!(text.contains("cannot write out/rounds.csv"), "{text}");
}

#[test]
fn how_a_run_is_tested_is_no_setting() {
    let place = Place::new();
    for flag in ["--ensemble", "--target 0.9", "--beam 2", "--eval-every 2"] {
        let text = place.failure(&format!("inspect fedavg {SMALL} {flag}"), 2);
        assert!(text.contains("unexpected argument"), "{text}");
    }
}

#[test]
fn ctrl_c_keeps_what_was_seen() {
    let place = Place::new();
    let line = format!("inspect fedavg {SMALL} --set fraction=1 --out out");
    let line = line.replace("--rounds 4", "--rounds 10000000");
    let mut command = Command::new(program());
    let child = command
        .current_dir(place.path(""))
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !place.path("out").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no folder");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Until some rounds are done.
    std::thread::sleep(Duration::from_secs(2));
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    let rounds = place.text("out/rounds.csv").lines().count() - 1;
    let found = place.json("out/report.json");
    assert_eq!(found["phases"][0]["rounds"], rounds);
    assert!(text.contains("kept in out"), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("traffic"));
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
    assert_eq!(found["membership"]["told"].as_array().unwrap().len(), 3);
    assert!(place.path("out/inversion.png").exists());
}

/// Images of noise with labels of chance, which can only be learned by heart.
fn noise(place: &Place) {
    let mut state = 1_u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    for (split, n) in [("train", 120_u32), ("t10k", 120)] {
        let images = [0x803, n, 28, 28].map(u32::to_be_bytes).concat();
        let pixels: Vec<u8> = (0..n * 784).map(|_| byte()).collect();
        let labels = [0x801, n].map(u32::to_be_bytes).concat();
        let classes: Vec<u8> = (0..n).map(|_| byte() % 10).collect();
        let name = |what: &str| format!("data/mnist/{split}-{what}-ubyte");
        place.write(&name("images-idx3"), &[images, pixels].concat());
        place.write(&name("labels-idx1"), &[labels, classes].concat());
    }
}

/// Members are the examples of the two clients, of four, that trained in the only round of the last
/// phase, with 30 each.
#[test]
fn what_was_learned_by_heart_is_told() {
    let place = Place::new();
    noise(&place);
    let line = "fedfed --clients 4 --partition iid --model 2nn --rounds 3 --set distill=1 \
                --set distill_share=1 --set fraction=0.5 --set epochs=30 --set lr=0.1 --attack";
    let found = report(&place, line);
    let membership = &found["membership"];
    assert_eq!(membership["members"], 60, "{membership}");
    assert!(number(&membership["auc"]) > 0.9, "{membership}");
    let told = membership["told"].as_array().unwrap();
    assert!(
        told.iter().all(|told| number(&told["recall"]) > 0.9),
        "{membership}"
    );
}

/// What clients share of resized and normalised images is measured against these.
#[test]
fn changed_images_are_compared_with_changed_ones() {
    let place = Place::new();
    let line =
        "fedfed --clients 4 --model logistic --rounds 2 --set distill=1 --set distill_share=1";
    let resized = "--augment resize:16,normalise:0.5:0.5 --attack";
    let found = report(&place, &format!("{line} {resized}"));
    let shared = &found["shared"][0];
    assert_eq!(shared["shape"], serde_json::json!([1, 16, 16]));
    assert!(number(&shared["images"]["psnr"]) > 0.0);
    // Nobody has trained on them yet.
    assert_eq!(found["membership"], Value::Null);
    // Noise of 0.15 on pixels of almost -1 to 1; on those of 0 to 1 it were 16.5 dB.
    let given = number(&found["inversion"][1]["given"]);
    assert!((20.0..22.5).contains(&given), "{given}");
}

#[test]
fn images_that_change_at_random_are_not_compared() {
    let place = Place::new();
    let line = "inspect fedfed --clients 2 --model logistic --rounds 2 --set distill=1 \
                --set distill_share=1 --data mnist --data-dir data --quiet --out out --augment flip";
    let text = place.failure(&format!("{line} --attack"), 1);
    assert!(text.contains("changed at random"), "{text}");
    assert!(!place.path("out").exists());
    let text = place.success(line);
    assert!(text.contains("is not measured"), "{text}");
    let found = place.json("out/report.json");
    assert_eq!(found["shared"][0]["images"], Value::Null);
    assert_eq!(found["correlations"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_shared_is_nothing_to_attack() {
    let place = Place::new();
    let line = format!("inspect fedavg {SMALL} --quiet --attack --out out");
    let text = place.failure(&line, 1);
    // It is known before anything is trained.
    assert!(!place.path("out").exists());
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
    let of = |i: usize, attribute: &str| {
        let exposed = &found["adversary"][i];
        assert_eq!(exposed["attribute"], attribute);
        number(&exposed["auc"])
    };
    assert!((0.6..0.8).contains(&of(0, "white")), "{found}");
    assert!((0.8..0.95).contains(&of(1, "male")), "{found}");
    // Rows of a table are no images.
    assert_eq!(
        place.files("out"),
        ["report.json", "rounds.csv", "variance.csv", "variance.svg"]
    );
}
