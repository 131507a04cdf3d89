//! Comparisons in which a run fails, or that a signal stops.

use std::fs;

use crate::compare::{grid, written};
use crate::support::{Place, SMALL, stderr};

#[test]
fn a_run_that_diverges_does_not_lose_the_others() {
    let place = Place::new();
    let line = grid("--out out --set fedprox.lr=1e6 --set fedprox.weight_decay=1e6");
    let output = place.output(&line);
    let (out, text) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr(&output),
    );
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(out.contains("0, 2 failed"), "{out}");
    assert!(
        text.contains("[2/4] fedprox, seed 1 failed: round "),
        "{text}"
    );
    assert!(text.contains("error: 2 of 4 runs failed"), "{text}");
    let json = place.json("out/comparison.json");
    assert_eq!(json["algorithms"][0]["complete"], 2);
    assert!(json["algorithms"][1]["test_accuracy"].is_null());
    // Nothing was trained: the accuracy would be that of the first model.
    let failed = place.json("out/fedprox-seed1/summary.json");
    assert_eq!(failed["rounds"], 0);
    assert!(failed["accuracy"].is_null() && failed["test_accuracy"].is_null());
    assert!(failed["seconds"].as_f64().unwrap().is_sign_positive());
    assert!(
        place
            .text("out/comparison.csv")
            .contains("lower the learning rate")
    );
    // It would fail again, and is not run again.
    let before = written(&place);
    assert_eq!(place.output(&line).status.code(), Some(1));
    assert_eq!(written(&place), before);
}

/// Without --out, the same command goes on with what it left unfinished, and begins anew otherwise.
#[test]
fn the_same_command_goes_on_in_its_own_folder() {
    let place = Place::new();
    let line = format!("compare fedavg fedprox {SMALL} --seeds 1");
    place.success(&format!("{line} --quiet"));
    let own = "runs/compare-mnist";
    let command = place.json(&format!("{own}/comparison.json"))["command"].clone();
    assert!(
        command
            .as_str()
            .unwrap()
            .ends_with(&format!("--seeds 1 --out {own}")),
        "{command}"
    );
    // As if the process had been killed in the second run, and as if it had been stopped there.
    let summary = format!("{own}/comparison.json");
    let ended = place.text(&summary);
    let stopped = ended.replacen("\"status\": \"complete\"", "\"status\": \"interrupted\"", 1);
    for left in [None, Some(stopped)] {
        fs::remove_dir_all(place.path(&format!("{own}/fedprox-seed1"))).unwrap();
        match left {
            None => fs::remove_file(place.path(&summary)).unwrap(),
            Some(text) => place.write(&summary, text.as_bytes()),
        }
        let output = place.output(&line);
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        for part in [
            "goes on in runs/compare-mnist, which the same command left unfinished",
            "1 of 2 runs are there already",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(place.files("runs"), ["compare-mnist"]);
        assert!(
            place
                .path(&format!("{own}/fedprox-seed1/manifest.json"))
                .exists()
        );
    }
    // Another command leaves it alone, and so does the same one when all has ended.
    fs::remove_file(place.path(&summary)).unwrap();
    place.success(&format!("{line} --set lr=0.2 --quiet"));
    assert_eq!(place.files("runs"), ["compare-mnist", "compare-mnist-2"]);
    assert!(!place.path(&summary).exists());
    place.success(&format!("{line} --quiet"));
    assert!(place.path(&summary).exists());
    place.success(&format!("{line} --quiet"));
    let all = ["compare-mnist", "compare-mnist-2", "compare-mnist-3"];
    assert_eq!(place.files("runs"), all);
}

/// The command goes on with runs that are left, and there are none when all have ended.
#[test]
fn a_comparison_is_no_run_to_resume() {
    let place = Place::new();
    place.success(&grid("--out out --quiet"));
    let resumed = |help: &str| {
        let text = place.failure("resume out", 1);
        assert!(text.contains("holds the folders of 4 runs"), "{text}");
        assert!(text.contains(&format!("help: {help}\n")), "{text}");
    };
    resumed(
        "all of them have ended; `fedround resume out/fedavg-seed1 --rounds N` trains one for more rounds",
    );
    place.success("resume out/fedavg-seed1 --rounds 5 --quiet");
    // As if the process had been stopped in a run.
    let (summary, complete) = ("out/comparison.json", "\"status\": \"complete\"");
    let stopped = complete.replace("complete", "interrupted");
    let stopped = place.text(summary).replacen(complete, &stopped, 1);
    place.write(summary, stopped.as_bytes());
    let command = grid("--out out");
    let text = place.failure("resume out", 1);
    assert!(
        text.contains(&format!("{command}` goes on with them")),
        "{text}"
    );
}

/// Weights are of one run, and a page is of a run or of a whole comparison.
#[test]
fn the_folder_of_several_runs_has_no_weights_and_needs_its_results_for_a_page() {
    let place = Place::new();
    place.success(&grid("--out out --quiet"));
    let fails = |line: &str| {
        let text = place.failure(line, 1);
        for part in [
            "`out` holds the folders of 4 runs, expected the folder of a run",
            "help: name one of them, such as out/fedavg-seed1",
        ] {
            assert!(text.contains(part), "{line}: {text}");
        }
    };
    fails(&format!("run fedavg {SMALL} --weights out --out next"));
    place.success("report out");
    let results = place.text("out/comparison.json");
    fs::remove_file(place.path("out/comparison.json")).unwrap();
    fails("report out");
    let cure = "the `fedround compare`, `sweep` or `reproduce` command of the folder, given again with --out out, \
                writes its comparison.json again";
    assert!(place.failure("report out", 1).contains(cure));

    // A file that cannot be read was not to be written.
    place.write("out/comparison.json", &results.as_bytes()[..2]);
    let text = place.failure("report out", 1);
    let damaged = "error: out/comparison.json: expected the results of several runs: EOF";
    for part in [damaged, &format!("help: {cure}")] {
        assert!(text.contains(part), "{part}: {text}");
    }
    place.success(&grid("--out out --quiet"));
    place.success("report out");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_there_and_says_how_to_go_on() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use crate::support::program;

    let place = Place::new();
    let line = grid("--out out").replace("--rounds 4", "--rounds 10000000");
    let mut command = Command::new(program());
    let command = command
        .current_dir(place.path(""))
        .args(line.split_whitespace());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (start, metrics) = (Instant::now(), place.path("out/fedavg-seed1/metrics.jsonl"));
    while fs::read_to_string(&metrics).map_or(0, |text| text.lines().count()) < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no round in a minute"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("0 of 4 runs are complete"), "{text}");
    assert!(
        text.contains("the same command with --out out goes on"),
        "{text}"
    );
    let csv = place.text("out/comparison.csv");
    assert!(csv.contains("fedavg,1,interrupted"), "{csv}");
    assert!(csv.contains("fedprox,2,unfinished"), "{csv}");
    assert!(place.text("out/curves.csv").lines().count() > 3);
}

/// Another process that has the clients' states open, a disk that takes no more, and a checkpoint of a later version.
#[cfg(unix)]
#[test]
fn an_error_that_may_pass_loses_no_round() {
    use std::process::Command;

    use crate::interrupted::{same, signal, start, wait_for};
    use crate::support::program;

    let place = Place::new();
    let settings = SMALL.replace("--rounds 4", "--rounds 120 --checkpoint rounds:2");
    let line = |out: &str| {
        format!("compare scaffold {settings} --client-memory 10KB --seeds 1 --quiet --out {out}")
    };
    place.success(&line("whole"));
    let (again, run) = (line("out"), "out/scaffold-seed1");
    let child = start(&place, &again);
    wait_for(&place.path(&format!("{run}/metrics.jsonl")), 10);
    let output = signal(child, "INT");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let folder = format!("{run}/checkpoints");
    let checkpoints = || {
        let names = place.files(&folder).into_iter();
        let paths = names.map(|name| format!("{folder}/{name}"));
        paths
            .map(|path| (place.read(&path), path))
            .collect::<Vec<_>>()
    };
    let before = checkpoints();
    let kept = |text: &str, reason: &str| {
        assert!(text.contains(reason), "{text}");
        assert!(!text.contains("starts again"), "{text}");
        assert!(checkpoints() == before, "{reason}");
    };

    let states = fs::File::open(place.path(&format!("{run}/clients.redb"))).unwrap();
    states.lock_shared().unwrap();
    kept(&place.failure(&again, 1), "is open in another process");
    drop(states);

    let mut shell = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f 40; exec \"$0\" {again}");
    let shell = shell.current_dir(place.path("")).args(["-c", &script]);
    let output = shell.arg(program()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    kept(&stderr(&output), "clients.redb: I/O error: File too large");

    let change = |version: u8| {
        for (mut bytes, path) in checkpoints() {
            bytes["FEDROUND".len()] = version;
            place.write(&path, &bytes);
        }
    };
    change(2);
    let text = place.failure(&again, 1);
    change(1);
    kept(&text, "it has version 2 of the format");

    let output = place.output(&again);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("starts again"), "{text}");
    same(&place, run, "whole/scaffold-seed1");
}
