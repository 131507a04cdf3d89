//! Tables of papers: what is listed, what would run, what is refused, and one that runs.

use std::fs;

use serde_json::{Value, json};

use crate::reproduced_rows::{fashion, images};
use crate::support::{Place, stderr};

/// A table of six runs, on the bars of the scratch folder.
const TINY: &str =
    "reproduce adfl mnist --data-dir data --rounds 2 --seeds 2 --out out --only AdFL";

#[test]
fn papers_and_tables_are_listed() {
    let place = Place::new();
    let all = place.success("reproduce");
    for part in [
        "fedaa  FedAA: ",
        "islands",
        "digits",
        "adfl",
        "lg-fedavg",
        "cifar-100",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let one = place.success("reproduce lg-fedavg");
    assert!(one.contains("local only, LG-FedAvg"), "{one}");
    assert!(!one.contains("islands"), "{one}");
}

#[test]
fn a_dry_run_prints_commands_that_run() {
    let place = Place::new();
    let line = "reproduce lg-fedavg mnist --data-dir data --rounds 1 --seeds 2 --dry-run";
    let text = place.success(line);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines[5].ends_with(
        "--seed 2 --out runs/lg-fedavg-mnist-small/LG-FedAvg-seed2 --reproducible-noise --ensemble"
    ));
    assert!(place.files("runs").is_empty());
    let solo = lines[1].strip_prefix("fedround ").unwrap();
    place.success(&format!("{solo} --quiet"));
    let summary = place.json("runs/lg-fedavg-mnist-small/local-only-seed1/summary.json");
    assert!(summary["ensemble_accuracy"].is_number(), "{summary}");
    assert_eq!(summary["client_accuracy"].as_array().unwrap().len(), 100);

    let full = place.success("reproduce fedfed svhn --scale full --dry-run");
    let first =
        "fedround run 'fedfed(fedavg)' --data svhn --data-dir data --normalize none --clients 10 ";
    assert!(full.contains(first), "{full}");
    assert_eq!(full.lines().count(), 4 * 8 * 5);
}

#[test]
fn a_table_runs_and_goes_on() {
    let place = Place::new();
    let output = place.output(&format!("{TINY} --seeds 1").replacen("--seeds 2 ", "", 1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", stderr(&output));
    for part in [
        "MNIST 2: 0, 1, 2 frequent",
        "+9 to 12",
        "one seed",
        "rounds: 100 → 2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run = "out/MNIST-1-3-4-5-frequent-AdFL-seed1/model.safetensors";
    let written = || fs::metadata(place.path(run)).unwrap().modified().unwrap();
    let before = written();
    let output = place.output(TINY);
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("6 of 12 runs are there already"), "{notes}");
    assert_eq!(written(), before);

    let json = place.json("out/table.json");
    let numbers = json["numbers"].as_array().unwrap();
    // The oracle is listed, and not run.
    assert_eq!(numbers.len(), 3 * 2 * 13);
    let accuracy = |run: &str| {
        let summary = place.json(&format!("out/MNIST-1-3-4-5-frequent-{run}/summary.json"));
        100.0 * summary["test_accuracy"].as_f64().unwrap()
    };
    let difference =
        |seed| accuracy(&format!("AdFL-seed{seed}")) - accuracy(&format!("FedAvg-seed{seed}"));
    let mean = (difference(1) + difference(2)) / 2.0;
    assert!((numbers[0]["ours"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert_eq!(
        (&numbers[0]["paper"], &numbers[0]["runs"]),
        (&"+1.5".into(), &2.into())
    );
    let claims = json["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 3);
    assert!((claims[0]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    let end = |name: &str| claims[0][name].as_f64().unwrap();
    assert!(end("low_holm") <= end("low") && end("high") <= end("high_holm"));
    let verdict = match (end("low_holm") > 0.0, end("high_holm") < 0.0) {
        (true, _) => "shown",
        (_, true) => "contradicted",
        _ => "not shown",
    };
    assert_eq!(
        (&claims[0]["pairs"], &claims[0]["verdict"]),
        (&2.into(), &verdict.into())
    );
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["AdFL >", "95 % interval", "for the 3 headline claims"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let markdown = place.text("out/table.md");
    assert!(markdown.contains("| AdFL > FedAvg * "), "{markdown}");
    assert!(markdown.starts_with("# adfl mnist, small: "), "{markdown}");

    let text = place.failure(&TINY.replace("--rounds 2", "--rounds 3"), 1);
    assert!(text.contains("rounds = 2, expected 3"), "{text}");
}

#[test]
fn bad_names_and_missing_data_are_found_before_anything_runs() {
    let place = Place::new();
    for (line, parts) in [
        (
            "adfll",
            vec![
                "unknown paper `adfll`",
                "did you mean `adfl`",
                "fedaa, adfl",
            ],
        ),
        (
            "adfl mnits",
            vec!["unknown table `mnits`", "did you mean `mnist`"],
        ),
        (
            "fedaa islands --only FedBM",
            vec!["`FedBM`", "did you mean `FedBN`", "C = 0.5"],
        ),
        (
            "fedaa islands",
            vec![
                "dataset `cifar-10` is not complete",
                "data/cifar-10-batches-bin",
            ],
        ),
        (
            "fedaa islands --skip-missing",
            vec!["nothing is left to run", "data list"],
        ),
    ] {
        let text = place.failure(&format!("reproduce {line}"), 1);
        for part in parts {
            assert!(text.contains(part), "{line}: expected `{part}` in: {text}");
        }
    }
    assert!(
        place
            .failure("reproduce adfl mnist --scale tiny", 2)
            .contains("full")
    );
    assert!(place.files("runs").is_empty());
}

/// Two of the table's four runs need CIFAR-10, and the same command runs them once it is there.
#[test]
fn runs_without_data_are_left_out_and_the_others_run() {
    let place = Place::new();
    fashion(&place);
    let line =
        "reproduce fedfed alpha --data-dir data --rounds 1 --seeds 1 --only FedAvg --out out";
    let text = place.failure(line, 1);
    assert!(
        text.contains("dataset `cifar-10` is not complete"),
        "{text}"
    );
    let output = place.output(&format!("{line} --skip-missing"));
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    for setting in ["CIFAR-10, alpha = 0.5", "CIFAR-10, alpha = 1"] {
        let why = "FedAvg is left out: dataset `cifar-10` is not complete";
        let note = format!("note: {setting}, {why}");
        assert_eq!(notes.matches(&note).count(), 1, "{notes}");
    }
    let mut runs = place.files("out");
    runs.retain(|name| name.ends_with("-seed1"));
    let expected = [
        "Fashion-MNIST-alpha-0-5-FedAvg-seed1",
        "Fashion-MNIST-alpha-1-FedAvg-seed1",
    ];
    assert_eq!(runs, expected);
    let table = place.json("out/table.json");
    assert_eq!(table["complete"], json!([2, 2]));
    for number in table["numbers"].as_array().unwrap() {
        let setting = number["setting"].as_u64().unwrap() as usize;
        let setting = table["settings"][setting].as_str().unwrap();
        let ran = setting.starts_with("Fashion-MNIST") && number["method"] == 0;
        assert_eq!(number["runs"], u64::from(ran), "{setting}: {number}");
    }

    images(&place);
    let output = place.output(&format!("{line} --skip-missing"));
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("2 of 4 runs are there already"), "{notes}");
    assert!(!notes.contains("is left out"), "{notes}");
    assert_eq!(place.json("out/table.json")["complete"], json!([4, 4]));
}

#[test]
fn values_are_chosen_on_validation_examples_and_curves_make_a_page() {
    let place = Place::new();
    let line = "reproduce lg-fedavg mnist --data-dir data --rounds 4 --seeds 1 --first-seed 7 --only FedAvg \
                --partition-seed 3 --out out --select lr=0.0001,0.3";
    let text = place.failure(line, 2);
    assert!(text.contains("--validation"), "{text}");
    let line = format!("{line} --validation 0.2");
    let text = place.success(&line);
    assert!(text.contains("partition seed 3"), "{text}");
    assert!(text.contains("60 test examples"), "{text}");
    let json = place.json("out/table.json");
    assert_eq!(json["seeds"], json!([7]));
    let runs = place.files("out").into_iter();
    let runs: Vec<String> = runs.filter(|name| name.ends_with("-seed7")).collect();
    assert_eq!(runs, ["FedAvg-lr-0-0001-seed7", "FedAvg-lr-0-3-seed7"]);
    let [slow, fast] = [&runs[0], &runs[1]].map(|run| {
        let summary = place.json(&format!("out/{run}/summary.json"));
        let number = |name: &str| summary[name].as_f64().unwrap();
        (
            number("validation_accuracy"),
            100.0 * summary["local_accuracy"]["mean"].as_f64().unwrap(),
        )
    });
    assert!(slow.0 < fast.0);
    assert_eq!(json["numbers"][0]["ours"]["mean"].as_f64(), Some(fast.1));
    let place_of = |file: &str| place.path("out").join(file).is_file();
    assert!(place_of("accuracy.svg") && place_of("curves.csv"));
    place.success("report out");
    let page = place.text("out/report.html");
    assert!(
        page.contains("Table of the paper") && page.contains("FedAvg"),
        "{page}"
    );
}

#[test]
fn what_a_paper_has_besides_is_listed_with_the_reason() {
    let place = Place::new();
    let text = place.success("reproduce adcol");
    assert!(text.contains("not run here:\n  Table 9"), "{text}");
    let json: Value = serde_json::from_str(&place.success("reproduce adcol --json")).unwrap();
    assert!(json["absent"][0]["why"].is_string(), "{json}");
}
