//! What `--quiet` leaves out, and what it does not: whatever changes the meaning of a result is said.

use crate::support::{Place, SMALL, stderr};

/// Stderr of a command that succeeds under `--quiet`, and has no progress and no table.
fn told(place: &Place, line: &str) -> String {
    let output = place.output(&format!("{line} --quiet"));
    let text = stderr(&output);
    assert!(output.status.success(), "{line}: {text}");
    assert!(output.stdout.is_empty(), "{line}");
    for progress in ["round 1/1", " trains ", "runs, into", "accuracy"] {
        assert!(!text.contains(progress), "{line}: {text}");
    }
    text
}

#[test]
fn rows_and_images_that_are_left_out_are_told() {
    let place = Place::new();
    let mut rows = "height,label\n".to_owned();
    for i in 0..40 {
        let height = if i == 7 { "" } else { "170" };
        rows += &format!("{height},{}\n", ["cat", "dog"][i % 2]);
    }
    place.write("gaps.csv", rows.as_bytes());
    place.write_photos();
    place.write("photos/ink/a/broken.png", b"no image");
    let common = "--clients 2 --partition iid --model logistic --rounds 1";
    let table = "--data csv:gaps.csv --target-column label --missing drop";
    for line in [
        format!("run fedavg {table} {common} --out run"),
        format!("compare fedavg {table} {common} --seeds 1 --out grid"),
    ] {
        let text = told(&place, &line);
        assert!(
            text.contains("left out 1 row with missing values"),
            "{text}"
        );
    }
    let line =
        format!("run fedavg --data images:photos --broken skip {common} --set lr=0.1 --out photo");
    let text = told(&place, &line);
    assert!(
        text.contains("left out: ") && text.contains("broken.png"),
        "{text}"
    );
}

#[test]
fn weights_that_are_only_in_part_those_of_the_file_are_told() {
    let place = Place::new();
    let line = |rest: &str| format!("run fedavg {SMALL} {rest}");
    let of_data = told(&place, &line("--out first"));
    // All of them need no word.
    assert_eq!(told(&place, &line("--weights first --out whole")), of_data);
    let renamed = "--weights first --rename head.bias=other --out part";
    let text = told(&place, &line(renamed));
    for part in [
        "1 of the model's 2 tensors",
        "as in a new model: head.bias",
        "left over in the file: head.bias",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn updates_that_are_left_out_are_told() {
    let place = Place::new();
    let mut rows = "who,size,label\n".to_owned();
    for i in 0..60 {
        let size = if i % 3 == 2 { "1e38" } else { "1.5" };
        rows += &format!("{},{size},{}\n", ["a", "b", "c"][i % 3], i / 3 % 2);
    }
    place.write("wild.csv", rows.as_bytes());
    let line = "run fedavg --data csv:wild.csv --target-column label --client-column who \
                --partition natural --normalize none --set fraction=1 --model logistic --rounds 2 \
                --out out";
    let text = told(&place, line);
    assert!(
        text.contains("warning: round 1: updates that are not finite are left out, of clients 2"),
        "{text}"
    );
    // Once.
    assert!(!text.contains("round 2"), "{text}");
}

/// A name that several layers have sets the outermost: the others keep theirs.
#[test]
fn layers_that_keep_their_values_are_told() {
    let place = Place::new();
    let line = format!("run fedavgm(fedopt) {SMALL} --set server_lr=0.5 --out out");
    let text = stderr(&place.output(&format!("{line} --quiet")));
    assert_eq!(
        text.matches("note: --set server_lr sets").count(),
        1,
        "{text}"
    );
}
