//! Files of finished runs that were changed afterwards.

use std::fs;

use serde_json::Value;

use crate::support::{Place, SMALL, stderr};

/// The numbers of a comparison, without times.
fn numbers(place: &Place) -> Vec<Value> {
    let mut json = place.json("out/comparison.json");
    let runs = json["runs"].as_array_mut().unwrap();
    for run in runs.iter_mut() {
        run.as_object_mut().unwrap().remove("seconds");
    }
    runs.clone()
}

/// Every way in which somebody may change a finished run.
#[test]
fn a_comparison_believes_no_changed_file() {
    let place = Place::new();
    let line = format!("compare fedavg {SMALL} --seeds 9 --out out");
    place.success(&line);
    let before = numbers(&place);
    let file = |seed: usize, name: &str| format!("out/fedavg-seed{seed}/{name}");
    let models = || -> Vec<Vec<u8>> {
        let model = |seed| place.read(&file(seed, "model.safetensors"));
        (1..=9).map(model).collect()
    };
    let trained = models();
    let change = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = place.read(name);
        change(&mut bytes);
        place.write(name, &bytes);
    };
    let remove = |name: &str| fs::remove_file(place.path(name)).unwrap();
    change(&file(1, "metrics.jsonl"), &Vec::clear);
    remove(&file(2, "metrics.jsonl"));
    change(&file(3, "model.safetensors"), &|bytes| bytes.truncate(100));
    let summary = place.json(&file(4, "summary.json"));
    let right = format!("\"test_accuracy\": {}", summary["test_accuracy"]);
    let text = place.text(&file(4, "summary.json"));
    assert!(text.contains(&right), "{text}");
    let wrong = text.replace(&right, "\"test_accuracy\": 7.5");
    place.write(&file(4, "summary.json"), wrong.as_bytes());
    // One bit of a weight, with the size and everything else as it was.
    change(&file(5, "model.safetensors"), &|bytes| {
        *bytes.last_mut().unwrap() ^= 1;
    });
    remove(&file(6, "manifest.json"));
    change(&file(7, "manifest.json"), &|bytes| bytes.truncate(50));
    remove(&file(8, "summary.json"));
    // Without any checkpoint, the run starts again.
    change(&file(9, "metrics.jsonl"), &|bytes| bytes.extend(b"{}\n"));
    fs::remove_dir_all(place.path(&file(9, "checkpoints"))).unwrap();

    let output = place.output(&line);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    for part in [
        "seed1/metrics.jsonl has 0 bytes, and the run left ",
        "seed2/metrics.jsonl is missing; the run left ",
        "seed3/model.safetensors has 100 bytes, and the run left ",
        "seed4/summary.json ",
        "seed5/model.safetensors was changed after the run: its SHA-256 begins with ",
        "seed6 has a summary.json and no manifest.json",
        "seed7/manifest.json: expected the sizes and digests of a run's files",
        "seed8/summary.json is missing",
        "seed9/metrics.jsonl has ",
        "; the run goes on from its last good checkpoint, or starts again",
        "[9/9] fedavg, seed 9",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(numbers(&place), before);
    assert!(models() == trained);
    // Now all is as it was.
    let output = place.output(&line);
    let text = stderr(&output);
    assert!(text.contains("9 of 9 runs are there already"), "{text}");
    assert!(!text.contains("warning"), "{text}");
}

/// The checkpoint of another run is none of this one.
#[test]
fn a_comparison_refuses_the_checkpoint_of_another_run() {
    let place = Place::new();
    let line = format!("compare fedavg fedprox {SMALL} --out out");
    place.success(&line);
    let before = numbers(&place);
    let other = place.read("out/fedprox-seed1/checkpoints/round-000004.ckpt");
    place.write("out/fedavg-seed1/checkpoints/round-000004.ckpt", &other);
    fs::remove_file(place.path("out/fedavg-seed1/manifest.json")).unwrap();
    let output = place.output(&line);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    for expected in [
        "out/fedavg-seed1 starts again: ",
        ".ckpt belongs to run ",
        "(fedprox on mnist, seed 1)",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(numbers(&place), before);
}

#[test]
fn models_that_were_changed_are_not_used() {
    let place = Place::new();
    place.success(
        "run fedrep --set fraction=1 --data mnist --data-dir data --clients 10 --model 2nn --rounds 2 \
         --quiet --out out",
    );
    let whole = place.success("eval out --json");
    let manifest = place.json("out/manifest.json");
    let files = manifest["files"].as_object().unwrap();
    assert_eq!(files.len(), 6 + 10, "{manifest}");
    let size = files["clients/3.safetensors"]["size"].as_u64().unwrap();
    assert_eq!(size, place.read("out/clients/3.safetensors").len() as u64);

    place.write("rows.csv", b"");
    let fails = |line: &str, expected: &str| {
        let text = place.failure(line, 1);
        assert!(text.contains(expected), "{line}: {text}");
        assert!(text.contains("help: `fedround resume"), "{line}: {text}");
    };
    place.write("out/clients/3.safetensors", b"short");
    fs::remove_file(place.path("out/clients/4.safetensors")).unwrap();
    let damaged = "out/clients/3.safetensors has 5 bytes, and the run left ";
    let missing = "out/clients/4.safetensors is missing; the run left ";
    fails("eval out --client 3", damaged);
    fails("predict out --client 3 rows.csv", damaged);
    fails("export out --client 3 --to three.pt", damaged);
    fails("eval out --client 4", missing);
    fails("eval out --client all", damaged);
    assert!(!place.path("three.pt").exists());
    place.success("export out --client 5 --to five.pt");
    fs::remove_dir_all(place.path("out/clients")).unwrap();
    fails("eval out", "clients/0.safetensors is missing");

    let mut model = place.read("out/model.safetensors");
    *model.last_mut().unwrap() ^= 1;
    place.write("out/model.safetensors", &model);
    let changed = "out/model.safetensors was changed after the run";
    fails("export out --part features --to features.pt", changed);
    let line = "run fedavg --data mnist --data-dir data --clients 10 --rounds 1";
    fails(&format!("{line} --weights out --out next"), changed);
    let config = place.text("out/config.toml") + "\n# mine\n";
    place.write("out/config.toml", config.as_bytes());
    fails("eval out", "out/config.toml has ");
    let text = place.failure("report out", 1);
    assert!(
        text.contains("; the run is left out of the report"),
        "{text}"
    );

    place.success("resume out --quiet");
    assert_eq!(place.success("eval out --json"), whole);
    // Without a manifest nothing can be checked, and nothing is refused.
    fs::remove_file(place.path("out/manifest.json")).unwrap();
    let output = place.output("eval out --json");
    assert_eq!(String::from_utf8_lossy(&output.stdout), whole);
    assert!(stderr(&output).contains("warning: out has no manifest.json"));
}

/// To write the files of such a run again would fail as it did.
#[test]
fn a_run_that_failed_says_so_where_its_model_is_wanted() {
    let place = Place::new();
    let settings = "--set lr=1e6 --set weight_decay=1e6 --set epochs=9";
    place.failure(
        &format!("run fedavg {SMALL} {settings} --quiet --out out"),
        1,
    );
    place.write("rows.csv", b"");
    let next = format!("run fedavg {SMALL} --weights out --out next");
    for line in [
        "eval out",
        "predict out rows.csv",
        "export out --to model.pt",
        &next,
    ] {
        let text = place.failure(line, 1);
        for part in [
            "error: `out` has no model.safetensors, because its run failed: round 1",
            "help: `fedround resume` would fail in the same way; `fedround run --config out/config.toml --out OTHER`",
        ] {
            assert!(text.contains(part), "{line}: {text}");
        }
    }
}

/// What helps is the run, and no file of the user's own.
#[test]
fn a_run_without_its_end_says_how_it_comes_to_a_model() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    let whole = place.success("eval out --json");
    let next = format!("run fedavg {SMALL} --weights out --out next");
    let fails = |parts: [&str; 2]| {
        for line in ["eval out", "export out --to model.pt", &next] {
            let text = place.failure(line, 1);
            for part in parts {
                assert!(text.contains(part), "{line}: {text}");
            }
            assert!(!text.contains("Python"), "{line}: {text}");
        }
    };
    // As of a process that was killed.
    for file in ["manifest.json", "summary.json", "model.safetensors"] {
        fs::remove_file(place.path(&format!("out/{file}"))).unwrap();
    }
    fails([
        "error: `out` has no model.safetensors, which a run writes when it ends",
        "help: if it is not being trained any more, `fedround resume out` finishes it",
    ]);
    let again = "help: `fedround resume out` writes it again";
    for (bytes, what) in [
        (&b"short"[..], "it is no safetensors file"),
        (&b""[..], "it is empty"),
    ] {
        place.write("out/model.safetensors", bytes);
        let damaged = format!("error: out/model.safetensors is damaged: {what}");
        fails([&damaged, again]);
    }
    place.success("resume out --quiet");
    assert_eq!(place.success("eval out --json"), whole);
    // Somebody's own folder is no run that could write it.
    place.write("own/model.safetensors", b"short");
    let line = format!("run fedavg {SMALL} --weights own --out next");
    let text = place.failure(&line, 1);
    assert!(text.contains("save_file"), "{text}");
}

/// A run that goes on has not ended, whatever it was before.
#[test]
fn an_extension_writes_the_manifest_anew() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    let first = place.text("out/manifest.json");
    place.success("resume out --rounds 6 --quiet");
    let second = place.text("out/manifest.json");
    assert_ne!(first, second);
    place.success("eval out");
    // What a process leaves that is killed while it goes on: the files of rounds, and no end.
    fs::remove_file(place.path("out/manifest.json")).unwrap();
    place.success("resume out --quiet");
    let digest = |text: &str, file: &str| -> Value {
        let json: Value = serde_json::from_str(text).unwrap();
        json["files"][file]["sha256"].clone()
    };
    let third = place.text("out/manifest.json");
    assert_eq!(
        digest(&second, "model.safetensors"),
        digest(&third, "model.safetensors")
    );
}
