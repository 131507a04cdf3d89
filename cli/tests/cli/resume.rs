//! Runs that are killed, stopped, extended or damaged, and go on.

use std::fs;

use crate::interrupted::{metrics, same, signal, start, wait_for};
use crate::support::{Place, SMALL, stderr};

/// A stateful algorithm with a checkpoint after every second round.
fn line(out: &str, rounds: usize) -> String {
    let settings = SMALL.replace("--rounds 4", &format!("--rounds {rounds}"));
    format!("run scaffold {settings} --eval-every 3 --checkpoint rounds:2 --quiet --out {out}")
}

fn checkpoints(place: &Place, dir: &str) -> Vec<String> {
    place.files(&format!("{dir}/checkpoints"))
}

#[cfg(unix)]
#[test]
fn a_killed_run_goes_on_with_the_same_bits() {
    let place = Place::new();
    place.success(&line("whole", 60));
    for (i, rounds) in [1, 2, 5, 20].into_iter().enumerate() {
        let out = format!("killed{i}");
        let child = start(&place, &line(&out, 60));
        wait_for(&place.path(&format!("{out}/metrics.jsonl")), rounds);
        signal(child, "KILL");
        place.success(&format!("resume {out} --quiet --threads 1"));
        same(&place, &out, "whole");
    }
}

#[cfg(unix)]
#[test]
fn signals_end_the_round_and_say_how_to_go_on() {
    let place = Place::new();
    // Nothing but the signal is a reason for a checkpoint.
    let line = |out: &str| line(out, 1000).replace("rounds:2", "minutes:60");
    place.success(&line("whole"));
    for (name, code) in [("TERM", 143), ("HUP", 129)] {
        let child = start(&place, &line(name));
        wait_for(&place.path(&format!("{name}/metrics.jsonl")), 2);
        let output = signal(child, name);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(&format!("stopped by SIG{name}: ")), "{text}");
        assert!(
            text.contains(&format!("`fedround resume {name}` goes on")),
            "{text}"
        );
        let done = metrics(&place, name).len();
        let last = checkpoints(&place, name).pop().unwrap();
        assert_eq!(last, format!("round-{done:06}.ckpt"));
        place.success(&format!("resume {name} --quiet"));
        same(&place, name, "whole");
    }
}

#[test]
fn a_finished_run_is_extended() {
    let place = Place::new();
    place.success(&line("whole", 9));
    place.success(&line("out", 6));
    assert_eq!(
        checkpoints(&place, "out"),
        ["round-000004.ckpt", "round-000006.ckpt"]
    );
    let text = place.failure("resume out --rounds 5", 1);
    assert!(text.contains("the run already has 6 rounds"), "{text}");
    let output = place.output("resume out --rounds 9");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("goes on after 6 rounds; 3 rounds left"));
    same(&place, "out", "whole");
    assert!(place.text("out/config.toml").contains("rounds = 9"));
    // Nothing is left, and nothing changes.
    place.success("resume out --quiet");
    same(&place, "out", "whole");
}

/// An extension that is killed before its first own checkpoint is still one.
#[cfg(unix)]
#[test]
fn a_killed_extension_goes_on() {
    let place = Place::new();
    place.success(&line("out", 6).replace("rounds:2", "minutes:60"));
    let child = start(&place, "resume out --rounds 600 --quiet");
    wait_for(&place.path("out/metrics.jsonl"), 9);
    signal(child, "KILL");
    assert_eq!(
        checkpoints(&place, "out").pop().unwrap(),
        "round-000006.ckpt"
    );
    assert!(!place.path("out/manifest.json").exists());
    place.success("resume out --quiet");
    assert_eq!(metrics(&place, "out").len(), 600);
    assert_eq!(place.json("out/summary.json")["rounds"], 600);
}

#[test]
fn a_checkpoint_of_other_data_is_refused() {
    let place = Place::new();
    place.success(&line("out", 4));
    let before = place.text("out/manifest.json");
    let file = "data/mnist/train-images-idx3-ubyte";
    let mut images = place.read(file);
    *images.last_mut().unwrap() ^= 1;
    place.write(file, &images);
    let expected = "`mnist` is no longer what out was trained on: it has other examples; restore";
    for line in ["resume out --rounds 6", "eval out"] {
        let text = place.failure(line, 1);
        assert!(text.contains(expected), "{line}: {text}");
        assert_eq!(place.text("out/manifest.json"), before);
    }
}

/// Of equal settings and equal data, so that nothing but the run's number tells them apart.
#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let place = Place::new();
    place.success(&line("whole", 9));
    place.success(&line("out", 3));
    place.success(&line("other", 6));
    let (from, to) = ("other/checkpoints/", "out/checkpoints/");
    let name = "round-000006.ckpt";
    let copied = place.path(&format!("{to}{name}"));
    fs::copy(place.path(&format!("{from}{name}")), &copied).unwrap();
    let before = place.text("out/manifest.json");
    let text = place.failure("resume out --rounds 9", 1);
    let number = |dir: &str| place.text(&format!("{dir}/run-id")).trim().to_owned();
    for part in [
        &format!(
            "out/checkpoints/{name} belongs to run {} (scaffold on mnist, seed 1), but this folder belongs to run {}",
            number("other"),
            number("out")
        ),
        "help: move this file out of the folder",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(place.text("out/manifest.json"), before);
    fs::remove_file(copied).unwrap();
    place.success("resume out --rounds 9 --quiet");
    same(&place, "out", "whole");

    // A folder that is copied or moved is still its run's.
    fs::create_dir_all(place.path("copy/checkpoints")).unwrap();
    for file in place.files("other") {
        if place.path(&format!("other/{file}")).is_file() {
            place.write(
                &format!("copy/{file}"),
                &place.read(&format!("other/{file}")),
            );
        }
    }
    let file = format!("checkpoints/{name}");
    place.write(
        &format!("copy/{file}"),
        &place.read(&format!("other/{file}")),
    );
    place.success("resume copy --rounds 9 --quiet");
    same(&place, "copy", "whole");
    // So is one of checkpoints alone.
    fs::create_dir_all(place.path("bare/checkpoints")).unwrap();
    place.write(
        &format!("bare/{file}"),
        &place.read(&format!("other/{file}")),
    );
    fs::copy(
        place.path("other/clients.redb"),
        place.path("bare/clients.redb"),
    )
    .unwrap();
    place.success("resume bare --rounds 9 --quiet");
    same(&place, "bare", "whole");
    assert_eq!(number("bare"), number("other"));
}

#[test]
fn a_damaged_checkpoint_is_passed_over_and_said() {
    let place = Place::new();
    place.success(&line("whole", 8));
    place.success(&line("out", 8));
    let damage = |round: usize, change: fn(&mut Vec<u8>)| {
        let name = format!("out/checkpoints/round-{round:06}.ckpt");
        let mut bytes = place.read(&name);
        change(&mut bytes);
        place.write(&name, &bytes);
    };
    damage(8, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    // It is trained again from round 6.
    fs::remove_file(place.path("out/metrics.jsonl")).unwrap();
    let output = place.output("resume out");
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("round-000008.ckpt: the checksum of its part"),
        "{text}"
    );
    assert!(text.contains("goes on after 6 rounds"), "{text}");
    same(&place, "out", "whole");

    damage(6, |bytes| bytes.truncate(100));
    damage(8, |bytes| bytes.clear());
    let text = place.failure("resume out", 1);
    for part in [
        "no checkpoint can be read",
        "round-000006.ckpt",
        "round-000008.ckpt",
        "help: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    same(&place, "out", "whole");

    let text = place.failure("resume data", 1);
    assert!(text.contains("`data` holds no run"), "{text}");
    let text = place.failure(&format!("run fedavg {SMALL} --checkpoint rounds:0"), 1);
    assert!(text.contains("expected `auto`, `off`, rounds:N"), "{text}");
}

#[test]
fn without_a_checkpoint_a_run_starts_again() {
    let place = Place::new();
    let line = |out: &str| line(out, 4).replace("rounds:2", "off");
    place.success(&line("whole"));
    place.success(&line("out"));
    assert!(checkpoints(&place, "out").is_empty());
    fs::remove_file(place.path("out/summary.json")).unwrap();
    place.success("resume out --quiet");
    same(&place, "out", "whole");
}

#[cfg(unix)]
#[test]
fn a_folder_has_one_process() {
    let place = Place::new();
    let child = start(&place, &line("out", 10_000_000));
    wait_for(&place.path("out/metrics.jsonl"), 1);
    let text = place.failure("resume out", 1);
    let holder = format!("in use by another process: process {}: ", child.id());
    assert!(text.contains(&holder), "{text}");
    signal(child, "KILL");

    let grid = format!("compare fedavg fedprox {SMALL} --out grid --quiet");
    let long = grid.replace("--rounds 4", "--rounds 10000000");
    let child = start(&place, &long);
    wait_for(&place.path("grid/fedavg-seed1/metrics.jsonl"), 1);
    let text = place.failure(&long, 1);
    let holder = format!("in use by another process: process {}: ", child.id());
    assert!(text.contains(&holder), "{text}");
    signal(child, "KILL");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_deleted_meanwhile_is_noticed() {
    let place = Place::new();
    let child = start(&place, &line("out", 10_000_000));
    wait_for(&place.path("out/metrics.jsonl"), 3);
    fs::remove_file(place.path("out/metrics.jsonl")).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("out/metrics.jsonl was deleted"), "{text}");
    assert!(text.contains("`fedround resume out` goes on"), "{text}");
    // The checkpoint has its lines.
    let last = checkpoints(&place, "out").pop().unwrap();
    let done: usize = last["round-".len()..last.len() - ".ckpt".len()]
        .parse()
        .unwrap();
    place.success(&format!("resume out --rounds {done} --quiet"));
    assert_eq!(metrics(&place, "out").len(), done);
    assert_eq!(place.json("out/summary.json")["rounds"], done);
}

#[cfg(unix)]
#[test]
fn cells_of_a_comparison_go_on_inside() {
    let place = Place::new();
    let grid = |out: &str| {
        let settings = SMALL.replace("--rounds 4", "--rounds 120");
        format!("compare scaffold fedavg {settings} --checkpoint rounds:2 --quiet --out {out}")
    };
    place.success(&grid("whole"));
    let child = start(&place, &grid("out"));
    wait_for(&place.path("out/scaffold-seed1/metrics.jsonl"), 50);
    signal(child, "KILL");
    let config = place.path("out/scaffold-seed1/checkpoints");
    let before = fs::metadata(&config).unwrap().modified().unwrap();
    place.success(&grid("out"));
    // Not begun anew: the folder is the same, with later files.
    assert!(fs::metadata(&config).unwrap().modified().unwrap() >= before);
    for cell in ["scaffold-seed1", "fedavg-seed1"] {
        same(&place, &format!("out/{cell}"), &format!("whole/{cell}"));
    }
}
