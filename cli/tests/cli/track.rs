//! Metrics in other formats.

use crate::support::{Place, SMALL};

#[test]
fn metrics_are_tracked_while_a_run_goes_on_and_after_it_was_resumed() {
    let place = Place::new();
    let short = SMALL.replace("--rounds 4", "--rounds 2");
    let line = "run fedavg --eval-every 1 --track tensorboard,csv --quiet";
    place.success(&format!("{line} {SMALL} --out whole"));
    place.success(&format!("{line} {short} --out parts"));
    place.success("resume parts --rounds 4 --quiet");
    let table = |dir: &str| place.text(&format!("{dir}/metrics.csv"));
    // All but the last column, the time.
    let rows = |dir: &str| -> Vec<String> {
        let text = table(dir);
        text.lines()
            .map(|row| row.rsplit_once(',').unwrap().0.to_owned())
            .collect()
    };
    assert_eq!(rows("whole").len(), 1 + 4);
    assert!(rows("whole")[0].starts_with("round,phase,train_loss,accuracy,"));
    assert_eq!(rows("whole"), rows("parts"));
    for dir in ["whole", "parts"] {
        let events = place.read(&format!("{dir}/events.out.tfevents.0.fedround"));
        assert_eq!(records(&events), 1 + 4, "{dir}");
        let tag = b"local_accuracy/mean";
        assert!(events.windows(tag.len()).any(|part| part == tag));
    }
    // Without it there is neither.
    place.success(&format!("run fedavg {SMALL} --quiet --out none"));
    assert!(!place.path("none/metrics.csv").exists());
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
