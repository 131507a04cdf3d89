//! Disks that are full, folders that cannot be written, and files that vanish.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use crate::interrupted::{metrics, same, start, wait_for};
use crate::support::{Place, SMALL, program, skipped, stderr};

/// A stateful run of which almost all states are in the file.
fn line(out: &str, rounds: usize) -> String {
    let settings = SMALL.replace("--rounds 4", &format!("--rounds {rounds}"));
    format!(
        "run scaffold {settings} --eval-every 2 --checkpoint rounds:2 --client-memory 10KB --quiet --out {out}"
    )
}

/// Names of files that are still being written are hidden and end so.
fn partial(place: &Place, dir: &str) -> Vec<String> {
    let mut all = place.files(dir);
    all.retain(|name| name.ends_with(".partial"));
    all
}

/// Linux has a file that is always full. Where a file's first name leads there, it meets a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_is_there_and_the_run_goes_on() {
    let place = Place::new();
    place.success(&line("whole", 4));
    place.success(&line("first", 2));
    let kept = place.json("first/manifest.json")["files"].clone();
    for file in [
        "config.toml",
        "metrics.jsonl",
        "checkpoints/round-000004.ckpt",
        "model.safetensors",
        "inputs.json",
        "curves.svg",
        "classes.svg",
        "summary.json",
        "manifest.json",
    ] {
        let mut copy = Command::new("cp");
        let copy = copy
            .args(["-r", "first", "out"])
            .current_dir(place.path(""));
        assert!(copy.status().unwrap().success());
        let path = place.path(&format!("out/{file}"));
        let name = path.file_name().unwrap().to_str().unwrap();
        symlink("/dev/full", path.with_file_name(format!(".{name}.partial"))).unwrap();
        let text = place.failure("resume out --rounds 4 --quiet", 1);
        let expected = format!("no space left for out/{file}: it needs ");
        assert!(text.contains(&expected), "{text}");
        assert!(
            text.contains(" bytes, and ") && text.contains(" are free; nothing of it"),
            "{text}"
        );
        assert!(
            text.contains("help: free disk space, then continue: `fedround resume"),
            "{text}"
        );
        // What has its final name is whole: as before, or as after.
        assert!(partial(&place, "out").is_empty());
        assert!(!place.path("out/manifest.json").exists(), "{file}");
        if !file.ends_with(".svg") {
            let after = place.path(&format!("whole/{file}"));
            let found = fs::read(&path).unwrap_or_default();
            let before = fs::read(place.path(&format!("first/{file}"))).unwrap_or_default();
            assert!(found == before || found == fs::read(after).unwrap() || found.is_empty());
        }
        place.success("resume out --rounds 4 --quiet");
        same(&place, "out", "whole");
        fs::remove_dir_all(place.path("out")).unwrap();
    }
    assert_eq!(place.json("first/manifest.json")["files"], kept);
}

/// The command in a shell that lets no file grow beyond so many blocks of 512 bytes, and where this
/// is an error and no signal.
fn limited(place: &Place, blocks: usize, line: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {line}");
    let mut shell = Command::new("sh");
    let shell = shell.current_dir(place.path("")).args(["-c", &script]);
    shell.arg(program()).output().unwrap()
}

#[test]
fn files_that_may_not_grow_are_named() {
    let place = Place::new();
    place.success(&line("whole", 6));
    // From a few lines of metrics to a whole checkpoint.
    for blocks in [1, 4, 40, 80] {
        let out = format!("out{blocks}");
        let output = limited(&place, blocks, &line(&out, 6));
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{blocks}: {text}");
        assert!(text.contains("File too large"), "{blocks}: {text}");
        assert!(text.contains(&format!("{out}/")), "{blocks}: {text}");
        assert!(!text.contains("panicked"), "{blocks}: {text}");
        assert!(partial(&place, &out).is_empty());
        assert!(!place.path(&format!("{out}/manifest.json")).exists());
        place.success(&format!("resume {out} --quiet"));
        same(&place, &out, "whole");
    }
}

#[test]
fn a_comparison_is_not_lost_for_want_of_space() {
    let place = Place::new();
    let grid = |out: &str| {
        format!(
            "compare scaffold fedavg {SMALL} --checkpoint rounds:2 --client-memory 10KB --quiet --out {out}"
        )
    };
    place.success(&grid("whole"));
    let output = limited(&place, 40, &grid("out"));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("File too large"), "{text}");
    place.success(&grid("out"));
    for cell in ["scaffold-seed1", "fedavg-seed1"] {
        same(&place, &format!("out/{cell}"), &format!("whole/{cell}"));
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let place = Place::new();
    place.success(&line("out", 2));
    let dir = place.path("out");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::File::create(dir.join("probe")).is_ok() {
        skipped("root may write to every folder; a file that is a folder is tested instead");
    } else {
        let text = place.failure("resume out --rounds 4", 1);
        assert!(text.contains("out/"), "{text}");
        assert!(text.contains("Permission denied"), "{text}");
        // It can still be read.
        place.success("eval out");
    }
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    place.write("file", b"");
    for out in ["file/out", "/proc/out"] {
        let text = place.failure(&line(out, 2), 1);
        assert!(
            text.contains(&format!("cannot create the folder {out}: ")),
            "{text}"
        );
    }
}

/// Root, too, cannot write a file where a folder has its name.
#[test]
fn a_file_that_cannot_be_written_is_named() {
    let place = Place::new();
    place.success(&line("out", 2));
    place.success(&line("whole", 4));
    let [file, kept] = ["out/metrics.jsonl", "kept"].map(|name| place.path(name));
    fs::rename(&file, &kept).unwrap();
    fs::create_dir(&file).unwrap();
    let text = place.failure("resume out --rounds 4 --quiet", 1);
    let expected = "cannot write out/metrics.jsonl: Is a directory";
    assert!(text.contains(expected), "{text}");
    // Once the file is back, nothing is lost.
    fs::remove_dir(&file).unwrap();
    fs::rename(&kept, &file).unwrap();
    place.success("resume out --rounds 4 --quiet");
    same(&place, "out", "whole");
}

/// The states of clients were in a file that is gone; the process has them still.
#[test]
fn deleted_states_of_clients_are_noticed_and_kept() {
    let place = Place::new();
    let child = start(&place, &line("out", 10_000_000));
    wait_for(&place.path("out/metrics.jsonl"), 9);
    fs::remove_file(place.path("out/clients.redb")).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("out/clients.redb was deleted"), "{text}");
    let done = metrics(&place, "out").len();
    place.success(&format!("resume out --rounds {} --quiet", done + 3));
    place.success(&line("whole", done + 3));
    same(&place, "out", "whole");
}

#[test]
fn a_deleted_folder_comes_back_with_its_last_round() {
    let mut place = Place::new();
    // Also while a checkpoint is written, which is some of the time.
    for milliseconds in (0..24).step_by(2) {
        place = Place::new();
        let child = start(&place, &line("out", 10_000_000));
        wait_for(&place.path("out/metrics.jsonl"), 9);
        thread::sleep(Duration::from_millis(milliseconds));
        // At once, as no deletion of many files is.
        fs::rename(place.path("out"), place.path("gone")).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        // Whichever of the two is looked for first after that.
        let noticed = |file: &str| text.contains(&format!("out/{file} was deleted"));
        assert!(noticed("config.toml") || noticed("clients.redb"), "{text}");
    }
    let last = place.files("out/checkpoints").pop().unwrap();
    let done: usize = last["round-".len()..last.len() - ".ckpt".len()]
        .parse()
        .unwrap();
    place.success(&format!("resume out --rounds {} --quiet", done + 3));
    place.success(&line("whole", done + 3));
    same(&place, "out", "whole");
}
