//! Sweeps: candidates, the choice, going on, and the page.

use serde_json::Value;

use crate::interrupted::{same, signal, start, wait_for};
use crate::support::{Place, SMALL, in_one_line, stderr};

#[test]
fn a_sweep_chooses_on_validation_examples_and_has_a_page() {
    let place = Place::new();
    let line = format!("sweep fedprox {SMALL} --eval-every 2 --seeds 2 --validation 0.2 --out out");
    let text = place.success(&format!("{line} --grid mu=0.01,100"));
    assert!(
        in_one_line(&text).contains("the best mean on validation examples is chosen"),
        "{text}"
    );
    assert!(
        text.lines()
            .all(|line| !line.starts_with('│') || line.chars().count() <= 80)
    );
    let json = place.json("out/comparison.json");
    assert_eq!(json["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(json["algorithms"].as_array().unwrap().len(), 1);
    let page = place.text("out/report.html");
    assert!(page.contains("fedprox mu=100"));
    // A fifth of each client's 30 examples is held back.
    assert!(page.contains("240 training examples of mnist, dealt to 10 clients"));

    // Another value goes into the same folder; what is there is not run again.
    let output = place.output(&format!("{line} --grid mu=0.01,100,1"));
    assert!(
        stderr(&output).contains("4 of 6 runs are there already"),
        "{}",
        stderr(&output)
    );
    // Without a number, a tenth is held back.
    place.success(&format!(
        "sweep fedavg {SMALL} --grid lr=1e-6,0.1 --seeds 1 --quiet --out tenth"
    ));
    assert!(
        place
            .text("tenth/fedavg-lr-0-1-seed1/config.toml")
            .contains("validation = 0.1")
    );
    // The target is that of the chosen one, which is not the first here.
    let json = place.json("tenth/comparison.json");
    let chosen = &json["algorithms"][0];
    assert_eq!(chosen["algorithm"], "fedavg lr=0.1");
    assert_eq!(json["target"], chosen["accuracy"]["mean"]);
}

#[test]
fn combinations_are_drawn_from_the_seed() {
    let place = Place::new();
    let line = |out: &str| {
        format!(
            "sweep fedprox {SMALL} --grid mu=0.001..1 --grid lr=0.05,0.1 --random 3 --seeds 1 --quiet --out {out}"
        )
    };
    place.success(&line("a"));
    place.success(&line("b"));
    let runs = |dir: &str| -> Vec<String> {
        let files = place.files(dir).into_iter();
        files.filter(|file| file.contains("seed")).collect()
    };
    assert_eq!((runs("a").len(), runs("a")), (3, runs("b")));
    // Of a count, whole numbers are drawn.
    let epochs =
        format!("sweep fedavg {SMALL} --grid epochs=1..3 --random 3 --seeds 1 --quiet --out c");
    place.success(&epochs);
    let folders = [1, 2, 3].map(|n| format!("fedavg-epochs-{n}-seed1"));
    assert_eq!(runs("c"), folders);
}

#[test]
fn sweeps_without_an_end_and_folders_of_others_are_refused() {
    let place = Place::new();
    let text = place.failure("sweep fedprox --grid mu=0.1..1", 1);
    assert!(text.contains("`mu`") && text.contains("--random"), "{text}");
    let text = place.failure("sweep fedprox --grid mu=1..0.1 --random 3", 1);
    assert!(text.contains("LOW..HIGH"), "{text}");
    assert!(place.failure("sweep fedprox", 2).contains("--grid"));
    // A comparison that has nothing to do with the one that is there.
    place.success(&format!(
        "compare fedavg {SMALL} --seeds 1 --quiet --out out"
    ));
    let text = place.failure(&format!("compare scaffold {SMALL} --seeds 1 --out out"), 1);
    assert!(text.contains("a comparison of fedavg"), "{text}");
    place.success(&format!(
        "compare fedavg scaffold {SMALL} --seeds 1 --quiet --out out"
    ));
    // Nor does one share a folder with a run.
    place.success(&format!("run fedavg {SMALL} --quiet --out run"));
    let text = place.failure(&format!("compare fedavg {SMALL} --seeds 1 --out run"), 1);
    assert!(text.contains("`run` holds a run"), "{text}");
}

/// A comparison's numbers, without times and what names its folder.
fn numbers(place: &Place, out: &str) -> Value {
    let mut json = place.json(&format!("{out}/comparison.json"));
    let all = json.as_object_mut().unwrap();
    for key in ["out", "command"] {
        all.remove(key);
    }
    for key in ["algorithms", "candidates", "runs"] {
        for row in all[key].as_array_mut().unwrap() {
            for key in ["seconds", "seconds_per_round"] {
                row.as_object_mut().unwrap().remove(key);
            }
        }
    }
    json
}

/// A run that an earlier call has trained for longer counts until its candidate is dropped.
#[test]
fn a_halving_with_more_seeds_is_that_of_one_call() {
    let place = Place::new();
    let sweep = |seeds: usize, out: &str| {
        place.success(&format!(
            "sweep fedprox {SMALL} --eval-every 1 --validation 0.2 --grid lr=0.0001,0.001,0.01,0.1 --halving 2 --seeds {seeds} --quiet --out {out}"
        ));
    };
    sweep(2, "whole");
    let whole = numbers(&place, "whole");
    let runs = whole["runs"].as_array().unwrap();
    let dropped = |run: &&Value| run["rounds"] == 1 && run["seed"] == 1;
    let dropped = runs.iter().find(dropped).unwrap();
    let folder = format!("out/{}", dropped["folder"].as_str().unwrap());

    sweep(1, "out");
    // As if the candidate had been the best with one seed.
    place.success(&format!("resume {folder} --rounds 4 --quiet"));
    sweep(2, "out");
    assert_eq!(place.json(&format!("{folder}/summary.json"))["rounds"], 4);
    assert_eq!(numbers(&place, "out"), whole);
    let lines = |out: &str| place.text(&format!("{out}/curves.csv")).lines().count();
    assert_eq!(lines("out"), lines("whole"));
}

/// Four candidates for 100 rounds, two for 200, one for 400.
#[cfg(unix)]
fn halving(out: &str) -> String {
    let small = SMALL.replace("--rounds 4", "--rounds 400");
    format!(
        "sweep fedprox {small} --eval-every 100 --validation 0.2 --grid lr=0.0001,0.001,0.01,0.1 --halving 2 --seeds 1 --out {out}"
    )
}

#[cfg(unix)]
#[test]
fn halving_continues_only_the_best() {
    let place = Place::new();
    let output = place.output(&halving("whole"));
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    for (candidates, rounds) in [(4, 100), (2, 200), (1, 400)] {
        let rung = format!(
            "halving: {candidates} of 4 candidates, each to {rounds} rounds\n{candidates} runs, into"
        );
        assert!(notes.contains(&rung), "{notes}");
    }
    let folders = |out: &str| -> Vec<String> {
        let files = place.files(out).into_iter();
        files.filter(|file| file.contains("seed")).collect()
    };
    let rounds = |out: &str| -> Vec<u64> {
        let of = |folder: &String| place.json(&format!("{out}/{folder}/summary.json"));
        let runs = folders(out);
        runs.iter()
            .map(|run| of(run)["rounds"].as_u64().unwrap())
            .collect()
    };
    let mut sorted = rounds("whole");
    sorted.sort_unstable();
    assert_eq!(sorted, [100, 100, 200, 400]);
    let last = rounds("whole").iter().position(|n| *n == 400).unwrap();
    let best = folders("whole")[last].clone();
    let chosen = place.json("whole/comparison.json")["algorithms"][0]["algorithm"].clone();
    let chosen = chosen.as_str().unwrap().replace([' ', '=', '.'], "-");
    assert_eq!(best, format!("{chosen}-seed1"));
    // What went on was better on validation examples after the first rung than what did not.
    let json = place.json("whole/comparison.json");
    let after_the_first = |run: &Value| {
        assert_eq!(run["status"], "complete", "{run}");
        let folder = run["folder"].as_str().unwrap();
        let metrics = place.text(&format!("whole/{folder}/metrics.jsonl"));
        let round: Value = serde_json::from_str(metrics.lines().nth(99).unwrap()).unwrap();
        let accuracy = round["validation_accuracy"].as_f64().unwrap();
        (run["rounds"].as_u64().unwrap(), accuracy)
    };
    let runs = json["runs"].as_array().unwrap().iter();
    let (ended, went_on): (Vec<_>, Vec<_>) =
        runs.map(after_the_first).partition(|run| run.0 == 100);
    assert_eq!((ended.len(), went_on.len()), (2, 2));
    assert!(
        went_on
            .iter()
            .all(|on| ended.iter().all(|end| on.1 >= end.1)),
        "{went_on:?} and {ended:?}"
    );
    // The table of candidates says after how many rounds each accuracy is.
    let page = place.text("whole/comparison.md");
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| candidate"));
    let told = table.map(|line| line.split('|').nth(3).unwrap_or_default().trim());
    let mut told: Vec<&str> = told.take(2 + 4).collect();
    told[2..].sort_unstable();
    assert_eq!(
        (told[0], &told[2..]),
        ("rounds", &["100", "100", "200", "400"][..]),
        "{page}"
    );
    // It is the run of 400 rounds that was never stopped.
    place.success(&format!(
        "run --config whole/{best}/config.toml --quiet --out direct"
    ));
    same(&place, &format!("whole/{best}"), "direct");

    // Stopped on the way, the same command ends with the same runs, and trains only what is missing.
    for how in ["INT", "KILL"] {
        let line = halving(how);
        let child = start(&place, &line);
        // It has 201 to 400 rounds only in the last stage.
        let metrics = place.path(&format!("{how}/{best}/metrics.jsonl"));
        wait_for(&metrics, 201);
        let output = signal(child, how);
        assert!(!output.status.success(), "{how}: it had ended");
        if how == "INT" {
            // Stopped again in the first stage, which begins with this run, it has not ended either.
            let known = std::fs::read_to_string(&metrics).unwrap().lines().count();
            let child = start(&place, &line);
            wait_for(&metrics, known + 5);
            assert_eq!(signal(child, how).status.code(), Some(130));
            let json = place.json("INT/comparison.json");
            let runs = json["runs"].as_array().unwrap().iter();
            let stopped: Vec<&Value> = runs.filter(|run| run["status"] == "interrupted").collect();
            assert_eq!(stopped.len(), 1, "{json}");
        }
        let output = place.output(&line);
        let notes = stderr(&output);
        assert!(output.status.success(), "{notes}");
        assert_eq!(notes.matches("1 runs, into").count(), 1, "{notes}");
        assert_eq!(rounds(how), rounds("whole"));
        for folder in folders("whole") {
            same(
                &place,
                &format!("{how}/{folder}"),
                &format!("whole/{folder}"),
            );
        }
    }
    for (flags, said) in [
        ("--halving 1", "--halving 1: expected 2 or more"),
        (
            "--halving 2 --checkpoint off",
            "--checkpoint off writes none",
        ),
    ] {
        let line = format!("sweep fedprox {SMALL} --grid mu=0.1,1 --seeds 1 {flags} --out none");
        let text = place.failure(&line, 1);
        assert!(text.contains(said), "{text}");
    }
    assert!(!place.path("none").exists());
}
