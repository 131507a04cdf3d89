//! Metrics in other formats.

use std::fs;

use crate::support::{Place, SMALL};

/// The file of TensorBoard.
const EVENTS: &str = "events.out.tfevents.0.fedround";

#[test]
fn metrics_are_tracked_while_a_run_goes_on_and_after_it_was_resumed() {
    let place = Place::new();
    let short = SMALL.replace("--rounds 4", "--rounds 2");
    let line = "run fedavg --eval-every 1 --track tensorboard,csv --quiet";
    place.success(&format!("{line} {SMALL} --out whole"));
    place.success(&format!("{line} {short} --out parts"));
    place.success("resume parts --rounds 4 --quiet");
    let rows = |dir: &str| rows(&place, dir);
    assert_eq!(rows("whole").len(), 1 + 4);
    assert!(rows("whole")[0].starts_with("round,phase,train_loss,accuracy,"));
    assert!(rows("whole")[0].contains(",bytes_down,bytes_across,"));
    assert_eq!(rows("whole"), rows("parts"));
    for dir in ["whole", "parts"] {
        let events = place.read(&format!("{dir}/{EVENTS}"));
        assert_eq!(records(&events), 1 + 4, "{dir}");
        let tag = b"local_accuracy/mean";
        assert!(events.windows(tag.len()).any(|part| part == tag));
    }
    // Without it there is neither.
    place.success(&format!("run fedavg {SMALL} --quiet --out none"));
    assert!(!place.path("none/metrics.csv").exists());
}

#[test]
fn single_clients_and_domains_are_tracked() {
    let place = Place::new();
    let line = "run fedavg --data synth-digits --clients 2 --model logistic --eval-every 1 \
                --track csv,tensorboard --track-clients --quiet";
    place.success(&format!("{line} --rounds 1 --out parts"));
    place.success("resume parts --rounds 2 --quiet");
    place.success(&format!("{line} --rounds 2 --out whole"));
    let table = place.text("whole/clients.csv");
    assert_eq!(table, place.text("parts/clients.csv"));
    // A row for each client in each round.
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(
        (rows[0], rows.len()),
        ("round,of,name,accuracy,loss", 1 + 4)
    );
    let metrics = place.text("whole/metrics.jsonl");
    let last: serde_json::Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
    let of = |k: &str| last["clients"][k]["accuracy"].as_f64().unwrap();
    let mean = last["local_accuracy"]["mean"].as_f64().unwrap();
    assert!(((of("0") + of("1")) / 2.0 - mean).abs() < 1e-9);
    let events = place.read(&format!("whole/{EVENTS}"));
    let tag = b"clients/1/loss";
    assert!(events.windows(tag.len()).any(|part| part == tag));

    // Folders of domains, of which clients have parts of their own.
    place.write_photos();
    place.success(
        "run fedavg --data images:photos --partition iid --clients 2 --model logistic --rounds 1 \
         --track-clients --quiet --out domains",
    );
    let line = place.text("domains/metrics.jsonl");
    let line: serde_json::Value = serde_json::from_str(line.trim()).unwrap();
    let domains: Vec<&String> = line["domains"].as_object().unwrap().keys().collect();
    assert_eq!(domains, ["chalk", "ink"]);
}

#[test]
fn formats_are_settings_of_the_run() {
    let place = Place::new();
    let short = SMALL.replace("--rounds 4", "--rounds 2");
    let line = "run fedavg --eval-every 1 --track csv,tensorboard --track-clients --quiet";
    place.success(&format!("{line} {SMALL} --out whole"));
    place.success(&format!("{line} {short} --out parts"));
    let config = place.text("parts/config.toml");
    assert!(
        config.contains("\ntrack = [\"csv\", \"tensorboard\"]\n"),
        "{config}"
    );
    // Files that are missing are made again, also those of a run that was killed before it had made them.
    for file in ["metrics.csv", "clients.csv", EVENTS] {
        fs::remove_file(place.path(&format!("parts/{file}"))).unwrap();
    }
    place.success("resume parts --rounds 4 --quiet");
    fs::create_dir(place.path("begun")).unwrap();
    for file in ["config.toml", "run-id"] {
        place.write(
            &format!("begun/{file}"),
            &place.read(&format!("whole/{file}")),
        );
    }
    place.write("begun/metrics.jsonl", b"");
    place.success("resume begun --quiet");
    // The file says so to a new run, too.
    place.success("run --config whole/config.toml --quiet --out again");
    let clients = |dir: &str| place.text(&format!("{dir}/clients.csv"));
    for dir in ["parts", "begun", "again"] {
        assert_eq!(rows(&place, dir), rows(&place, "whole"), "{dir}");
        assert_eq!(clients(dir), clients("whole"), "{dir}");
        let events = place.read(&format!("{dir}/{EVENTS}"));
        assert_eq!(records(&events), 1 + 4, "{dir}");
    }
    // A flag wins over the file.
    place.success("run --config whole/config.toml --track csv --quiet --out table");
    assert!(place.path("table/clients.csv").exists());
    assert!(!place.path(&format!("table/{EVENTS}")).exists());
    // Runs of earlier versions have nothing but the files.
    let config = place.text("table/config.toml");
    let earlier = config.replace("\ntrack = [\"csv\"]\n", "\n");
    assert_ne!(earlier, config);
    place.write("table/config.toml", earlier.as_bytes());
    place.success("resume table --rounds 5 --quiet");
    assert_eq!(rows(&place, "table").len(), 1 + 5);
}

/// Linux has a file that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_with_what_a_format_needs() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    std::os::unix::fs::symlink("/dev/full", place.path("out/metrics.csv")).unwrap();
    let text = place.failure("resume out --rounds 5 --quiet", 1);
    for said in [
        "no space left for out/metrics.csv: it needs ",
        " are free; nothing of it",
        "help: free disk space, then continue: `fedround resume",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// The rows of a run's table, without the last column, the time.
fn rows(place: &Place, dir: &str) -> Vec<String> {
    let text = place.text(&format!("{dir}/metrics.csv"));
    text.lines()
        .map(|row| row.rsplit_once(',').unwrap().0.to_owned())
        .collect()
}

/// How many records a file has; their lengths lead from one to the next, and end at its end.
fn records(bytes: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        at += 8 + 4 + length as usize + 4;
        count += 1;
    }
    assert_eq!(at, bytes.len());
    count
}
