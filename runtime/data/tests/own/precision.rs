//! Large numbers: they are scaled before they become numbers of single precision.

use fedround_data::ReadOptions;
use fedround_data::own::Normalize;

use super::arrays::npy;
use super::{folder, inputs, message, read, write};

fn of_y(normalize: Normalize) -> ReadOptions {
    ReadOptions {
        target: Some("y".to_owned()),
        normalize,
        ..ReadOptions::default()
    }
}

/// Seconds of a minute, and single precision has a number for each 128 of them.
#[test]
fn large_numbers_that_differ_little_stay_apart() {
    let time = |i: i64| 1_700_000_000 + i;
    let rows: String = (0..61)
        .map(|i| format!("{},{}\n", time(i), i % 2))
        .collect();
    let eights = |of: fn(i64) -> [u8; 8]| (0..61).flat_map(|i| of(time(i))).collect::<Vec<u8>>();
    let y: Vec<u8> = (0..61).map(|i| i % 2).collect();
    let root = folder(&[
        ("t.csv", format!("x,y\n{rows}").as_bytes()),
        ("i8.npy", &npy("<i8", "(61, 1)", &eights(i64::to_le_bytes))),
        (
            "f8.npy",
            &npy("<f8", "(61, 1)", &eights(|x| (x as f64).to_le_bytes())),
        ),
        ("y.npy", &npy("|u1", "(61,)", &y)),
    ]);
    for (data, reading) in [
        ("csv:DIR/t.csv,DIR/t.csv", of_y(Normalize::Auto)),
        (
            "npy:DIR/i8.npy,DIR/y.npy,DIR/i8.npy,DIR/y.npy",
            ReadOptions::default(),
        ),
        (
            "npy:DIR/f8.npy,DIR/y.npy,DIR/f8.npy,DIR/y.npy",
            ReadOptions::default(),
        ),
    ] {
        let read = read(&root, data, reading);
        check(&inputs(&read));
        if let Some(encoder) = read.table {
            let column = encoder.encode(&root.path().join("t.csv")).unwrap();
            let mut x = [0.0; 61];
            column
                .gather_into(&(0..61).collect::<Vec<_>>(), &mut x)
                .unwrap();
            check(&x);
        }
    }
}

/// Checks the scaled times of the minute.
fn check(x: &[f32]) {
    let std = ((61.0f32 * 61.0 - 1.0) / 12.0).sqrt();
    for (i, x) in (0..).zip(x) {
        let expected = (i as f32 - 30.0) / std;
        assert!((x - expected).abs() < 1e-5, "{i}: {x} and {expected}");
    }
}

/// A number that single precision lacks is a number, if it is scaled.
#[test]
fn numbers_beyond_single_precision_are_scaled_or_refused() {
    let rows = |large: &str| format!("x,y\n1e40,a\n2e40,b\n3e40,a\n{large},b\n4e40,b\n");
    let root = folder(&[("t.csv", rows("5e40").as_bytes())]);
    let all = "csv:DIR/t.csv,DIR/t.csv";
    let data = read(&root, all, of_y(Normalize::Auto));
    assert_eq!(data.table.as_ref().unwrap().names(), ["x"]);
    let x = inputs(&data);
    assert!(x.iter().all(|x| x.abs() < 2.0) && x[0] < x[1], "{x:?}");
    assert_eq!(
        message(&root, all, of_y(Normalize::None)),
        "DIR/t.csv: column `x`: expected numbers that are at most 3.4e38 after scaling, found 5e40; correct it, or leave \
         the column out"
    );
    let new = root.path().join("new.csv");
    write(&new, b"x\n1e300\n");
    let error = data.table.unwrap().encode(&new).unwrap_err().to_string();
    assert!(
        error.ends_with("new.csv:2: column `x`: expected a number that is at most 3.4e38 after scaling, found `1e300`"),
        "{error}"
    );
    // The squares of these numbers are beyond double precision.
    let root = folder(&[("t.csv", rows("-1e300").as_bytes())]);
    let text = message(&root, all, of_y(Normalize::Auto));
    assert!(
        text.contains("at most 3.4e38 after scaling, found -1e300"),
        "{text}"
    );
    // No number has this text.
    let root = folder(&[("t.csv", rows("1e400").as_bytes())]);
    let notes = read(&root, all, of_y(Normalize::Auto)).notes;
    assert_eq!(
        notes[0],
        "column `x` is read as texts, an input for each: `1e400` in line 5 is no number, and the largest number is 1.8e308"
    );
    let x = [1.0, 1e40f64].map(f64::to_le_bytes).concat();
    let root = folder(&[
        ("x.npy", &npy("<f8", "(2, 1)", &x)),
        ("y.npy", &npy("|u1", "(2,)", &[0, 1])),
    ]);
    let all = "npy:DIR/x.npy,DIR/y.npy,DIR/x.npy,DIR/y.npy";
    assert_eq!(
        inputs(&read(&root, all, ReadOptions::default())),
        [-1.0, 1.0]
    );
    let text = message(&root, all, of_numbers_as_they_are());
    assert!(
        text.ends_with(
            "x.npy: expected numbers that are at most 3.4e38 after scaling, found 1e40 in example 1"
        ),
        "{text}"
    );
}

fn of_numbers_as_they_are() -> ReadOptions {
    ReadOptions {
        normalize: Normalize::None,
        ..ReadOptions::default()
    }
}

/// Single precision has no number between 2^24 and 2^24 + 2.
#[test]
fn large_labels_are_told_apart() {
    let labels = [16_777_216.0, 16_777_217.0, -0.0, 0.0]
        .map(f64::to_le_bytes)
        .concat();
    let root = folder(&[
        ("x.npy", &npy("|u1", "(4, 1)", &[1, 2, 3, 4])),
        ("y.npy", &npy("<f8", "(4,)", &labels)),
    ]);
    let data = read(&root, "npy:DIR/x.npy,DIR/y.npy", ReadOptions::default());
    assert_eq!(data.class_names, ["0", "16777216", "16777217"]);
}
