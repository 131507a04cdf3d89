//! Runs and files that `predict` does not take: each error says the real reason.

use crate::book::arrays::npy;
use crate::support::{Place, SMALL, real, stderr};

/// Predictions fail, and the error has all of `parts`.
fn fails(place: &Place, line: &str, parts: &[&str]) {
    let text = place.failure(&format!("predict out {line}"), 1);
    for part in parts {
        assert!(text.contains(part), "{line}: expected `{part}` in: {text}");
    }
    // Switches that it does not have, and names of our own.
    for other in ["--data", "--broken", "placeholder"] {
        assert!(!text.contains(other), "{line}: {text}");
    }
}

/// The rows of an array are classified as those of a CSV file with the same numbers.
#[test]
fn arrays_are_classified() {
    let place = Place::new();
    let numbers = |n: usize| (0..2 * n).map(|i| (i % 2 * 10 + i / 2 % 7) as f64 + (i % 4) as f64);
    let x: Vec<u8> = numbers(40).flat_map(f64::to_le_bytes).collect();
    let y: Vec<u8> = (0..40).map(|i| i % 2).collect();
    place.write("x.npy", &npy("<f8", "40, 2", x.clone()));
    place.write("y.npy", &npy("|u1", "40,", y));
    place.success(
        "run fedavg --data npy:x.npy,y.npy --clients 2 --partition iid --model logistic --set fraction=1 --rounds 2 \
         --quiet --out out",
    );
    place.write("new.npy", &npy("<f8", "3, 2", x[..48].to_vec()));
    let row = |row: &[f64]| format!("{},{}\n", row[0], row[1]);
    let numbers: Vec<f64> = numbers(3).collect();
    let rows: String = numbers.chunks(2).map(row).collect();
    place.write("new.csv", rows.as_bytes());
    let found = place.success("predict out new.npy");
    assert_eq!(found.matches("\"row\": 3").count(), 1, "{found}");
    let of_rows = place.success("predict out new.csv");
    assert_eq!(found, of_rows.replace("new.csv", "new.npy"));
    place.write("wide.npy", &npy("<f8", "1, 3", x[..24].to_vec()));
    let expected =
        "wide.npy: expected examples of shape 2, as in training, found floats of shape [1, 3]";
    fails(&place, "wide.npy", &[expected]);
}

/// A model of a table whose gaps are filled knows the mean of each column of numbers.
#[test]
fn missing_numbers_are_filled_as_in_training() {
    let place = Place::new();
    let rows: String = (0..40)
        .map(|i| format!("{},{},{}\n", i % 7, i, if i < 20 { "low" } else { "high" }))
        .collect();
    let text = format!("a,b,class\n{rows}");
    place.write("t.csv", text.as_bytes());
    // The mean of `a` takes the place of the missing number, where no row of the training table has a gap.
    place.write("new.csv", b"a,b\n,3\n,37\n");
    place.write("tests.csv", b"a,b,class\n,3,low\n,37,high\n");
    let run = "run fedavg --data csv:t.csv --target-column class --clients 2 --partition iid --model logistic \
               --rounds 2 --set fraction=1 --quiet";
    place.success(&format!("{run} --missing fill --out out"));
    let found = place.success("predict out new.csv");
    assert_eq!(found.matches("\"row\"").count(), 2, "{found}");
    place.success("eval out --data csv:tests.csv");
    place.success(&format!("{run} --out stop"));
    let text = place.failure("predict stop new.csv", 1);
    assert!(text.contains("column `a`: expected a value"), "{text}");
}

#[test]
fn texts_are_not_continued() {
    let place = Place::new();
    place.write_play("play", ["abcd", "efgh"]);
    place.success(
        "run fedavg --data leaf:play --partition natural --model char-lstm --set fraction=1 \
         --rounds 1 --quiet --out out",
    );
    place.write("text.txt", b"abcd");
    let parts = [
        "`predict` does not continue texts",
        "model `char-lstm` reads characters",
        "help: `fedround eval RUN` tests the model",
    ];
    fails(&place, "text.txt", &parts);
}

#[test]
fn protected_attributes_are_not_in_files() {
    let Some(data) = real(&["adult"]) else {
        return;
    };
    let place = Place::new();
    place.success(&format!(
        "run fedavg --data adult --data-dir {} --clients 10 --partition iid --model logistic \
         --rounds 1 --quiet --out out",
        data.display()
    ));
    fails(
        &place,
        "rows.csv",
        &["does not take `adult`", "protected attributes ("],
    );
}

#[test]
fn what_is_no_file_is_told() {
    let place = Place::new();
    place.success(&format!("run fedavg {SMALL} --quiet --out out"));
    place.write("x.gif", b"\x93NUMPY\x01\x00");
    let expected = "expected a file with an image or with rows, found";
    for (file, found, help) in [
        ("absent.png", "no such file", "help: check the paths"),
        (
            "-",
            "standard input",
            "help: write what it holds into a file",
        ),
        (
            "data",
            "a folder",
            "help: name the files in it, as in DIR/*.png",
        ),
    ] {
        let error = format!("error: {file}: {expected} {found}");
        fails(&place, file, &[&error, help]);
    }
    fails(
        &place,
        "x.gif",
        &[
            "cannot decode x.gif (8 bytes)",
            "expected a PNG or JPEG image, a file *.npy, or a file *.csv with 784 bytes, 0 to 255, in a row",
        ],
    );
    // The others are classified.
    let row = vec!["7"; 784].join(",");
    place.write("good.csv", format!("{row}\n{row}\n").as_bytes());
    let output = place.output("predict out x.gif good.csv absent.png");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("error: cannot decode x.gif"), "{text}");
    assert!(text.contains("error: absent.png: "), "{text}");
    let found: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found.len() == 2 && found.iter().all(|found| found["file"] == "good.csv"));
}

#[cfg(unix)]
#[test]
fn rows_of_a_table_come_from_a_file() {
    let place = Place::new();
    let rows = (0..40).map(|i| format!("{},{}\n", i % 7, ["cat", "dog"][i % 2]));
    let table = format!("size,label\n{}", rows.collect::<String>());
    place.write("pets.csv", table.as_bytes());
    place.success(
        "run fedavg --data csv:pets.csv --target-column label --clients 2 --partition iid \
         --model logistic --rounds 1 --quiet --out out",
    );
    for (file, found, help) in [
        ("absent.csv", "no such file", "help: check the paths"),
        (
            "-",
            "standard input",
            "help: write what it holds into a file",
        ),
        (
            "data",
            "a folder",
            "help: name the files in it, as in DIR/*.csv",
        ),
    ] {
        let error = format!("error: {file}: expected a file of rows, found {found}");
        fails(&place, file, &[&error, help]);
    }
    let mut piped = place.command("predict out /dev/stdin");
    let output = piped.write_stdin("size\n3\n").output().unwrap();
    let text = crate::support::stderr(&output);
    assert!(
        text.contains("expected a file of rows, found a stream"),
        "{text}"
    );
}
