use std::fs;
use std::io::Write;

use fedround_data::own::{Missing, Normalize};
use fedround_data::{Partition, ReadOptions};
use flate2::{Compression, write::GzEncoder};

use super::{folder, inputs, message, read, write};

const PEOPLE: &str = "\
name;age;job;income
a;20;cook;low
b;30;nurse;high
c;40;cook;low
d;50;driver;high
e;60;cook;high
";

fn of(target: &str) -> ReadOptions {
    ReadOptions {
        target: Some(target.to_owned()),
        ignore: vec!["name".to_owned()],
        ..ReadOptions::default()
    }
}

#[test]
fn types_are_inferred_and_texts_encoded() {
    let root = folder(&[("people.csv", PEOPLE.as_bytes())]);
    let plain = ReadOptions {
        normalize: Normalize::None,
        ..of("income")
    };
    let data = read(&root, "csv:DIR/people.csv", plain);
    assert_eq!(data.class_names, ["high", "low"]);
    assert_eq!((data.train.len(), data.test.len()), (4, 1));
    let encoder = data.table.as_ref().unwrap();
    assert_eq!(
        encoder.names(),
        ["age", "job=cook", "job=driver", "job=nurse"]
    );
    let columns: Vec<_> = encoder.inputs().collect();
    let jobs = ["cook", "driver", "nurse"].map(str::to_owned);
    assert_eq!(columns, [("age", None), ("job", Some(&jobs[..]))]);
    let rows = inputs(&data);
    for row in rows.chunks(4) {
        assert_eq!(row[1..].iter().sum::<f32>(), 1.0);
        assert!(row[0] >= 20.0);
    }
    let x = inputs(&read(&root, "csv:DIR/people.csv", of("income")));
    let mean = x.chunks(4).map(|row| row[0]).sum::<f32>();
    assert!(mean.abs() < 1e-5, "{mean}");

    // Another file with the same columns, in another order and without the target.
    let other = root.path().join("new.csv");
    write(&other, b"job,age\ndriver,50\ncook,20");
    let column = encoder.encode(&other).unwrap();
    let mut x = vec![0.0; 8];
    column.gather_into(&[0, 1], &mut x).unwrap();
    assert_eq!(x, [50.0, 0.0, 1.0, 0.0, 20.0, 1.0, 0.0, 0.0]);
    write(&other, b"job,age\nnurs,50\n");
    let error = encoder.encode(&other).unwrap_err().to_string();
    assert!(
        error.ends_with("new.csv:2: column `job`: expected cook, driver, nurse, found `nurs` (did you mean `nurse`?)"),
        "{error}"
    );
}

#[test]
fn a_column_names_the_clients() {
    let mut text = "shop,amount,fraud\n".to_owned();
    for i in 0..40 {
        text += &format!("s{},{i},{}\n", i % 4, i % 2);
    }
    let root = folder(&[("sales.csv", text.as_bytes())]);
    let reading = ReadOptions {
        client_column: Some("shop".to_owned()),
        ..of("fraud")
    };
    let reading = ReadOptions {
        ignore: vec![],
        ..reading
    };
    let data = read(&root, "csv:DIR/sales.csv", reading);
    assert_eq!(data.group_names, ["s0", "s1", "s2", "s3"]);
    assert_eq!((data.train.features(), data.classes), (1, 2));
    let splits = Partition::Natural.deal(&data, 4, 1).unwrap();
    assert!(
        splits
            .iter()
            .all(|s| s.train.len() == 8 && s.test.len() == 2)
    );
}

#[test]
fn a_target_is_nothing_else() {
    let root = folder(&[("t.csv", b"x,y\n1,a\n2,b\n")]);
    let reading = || ReadOptions {
        ignore: vec![],
        ..of("y")
    };
    let clients = ReadOptions {
        client_column: Some("y".to_owned()),
        ..reading()
    };
    let ignored = ReadOptions {
        ignore: vec!["x".to_owned(), "y".to_owned()],
        ..reading()
    };
    for (reading, option) in [(clients, "client_column"), (ignored, "ignore")] {
        assert_eq!(
            message(&root, "csv:DIR/t.csv", reading),
            format!("DIR/t.csv: column `y` is the target, and the option `{option}` names it, too")
        );
    }
}

#[test]
fn a_table_of_its_own_is_for_testing() {
    let root = folder(&[
        ("train.csv", b"x,y\n1,a\n2,b\n3,b\n"),
        ("test.csv", b"x,y\n4,a\n"),
    ]);
    let reading = || ReadOptions {
        ignore: vec![],
        ..of("y")
    };
    let both = "csv:DIR/train.csv,DIR/test.csv";
    let data = read(&root, both, reading());
    assert_eq!((data.train.len(), data.test.len()), (3, 1));
    fs::write(root.path().join("test.csv"), "x,y\n4,aa\n").unwrap();
    assert_eq!(
        message(&root, both, reading()),
        "DIR/test.csv: class `aa` is only in the test examples (did you mean `a`?); give it training examples, or \
         remove it"
    );
    fs::write(root.path().join("test.csv"), "y,x\na,4\n").unwrap();
    assert_eq!(
        message(&root, both, reading()),
        "DIR/test.csv:1: expected the columns of the training table, x, y; found y, x"
    );
}

#[test]
fn missing_values_are_named_and_handled_as_asked() {
    let root = folder(&[(
        "t.csv",
        b"x,job,y\n1,cook,a\n,cook,b\n3,?,a\n4,nurse,b\n8,cook,a\n",
    )]);
    let with = |missing| ReadOptions {
        ignore: vec![],
        missing,
        normalize: Normalize::None,
        ..of("y")
    };
    assert_eq!(
        message(&root, "csv:DIR/t.csv", with(Missing::Stop)),
        "DIR/t.csv:3: column `x` has no value. 2 rows lack values (x 1, job 1): leave such rows out, or fill the gaps"
    );
    let data = read(&root, "csv:DIR/t.csv", with(Missing::Drop));
    assert_eq!(data.train.len() + data.test.len(), 3);
    assert!(data.notes[0].ends_with("left out 2 rows with missing values (x 1, job 1)"));
    let data = read(&root, "csv:DIR/t.csv", with(Missing::Fill));
    assert_eq!(data.train.len() + data.test.len(), 5);
    let names = data.table.as_ref().unwrap().names();
    assert_eq!(names, ["x", "job=cook", "job=nurse", "job=(missing)"]);
    assert!(inputs(&data).iter().all(|x| x.is_finite()));
    // A value that is written like the input of gaps is one with it.
    let root = folder(&[("t.csv", b"job,y\ncook,a\n(missing),b\n,a\n")]);
    let data = read(&root, "csv:DIR/t.csv", with(Missing::Fill));
    let names = data.table.as_ref().unwrap().names();
    assert_eq!(names, ["job=(missing)", "job=cook"]);
    let root = folder(&[("t.csv", b"x,y\n1,a\n2,\n")]);
    assert!(
        message(&root, "csv:DIR/t.csv", with(Missing::Fill))
            .starts_with("DIR/t.csv:3: column `y` has no value, and a class cannot be filled")
    );
}

#[test]
fn errors_name_the_line_and_the_column() {
    let root = folder(&[("people.csv", PEOPLE.as_bytes())]);
    let at = "csv:DIR/people.csv";
    assert_eq!(
        message(&root, at, ReadOptions::default()),
        "DIR/people.csv: a table needs a target, the column that holds the class; the columns are name, age, job, income"
    );
    assert_eq!(
        message(&root, at, of("incom")),
        "DIR/people.csv: no column is called `incom` (did you mean `income`?); the columns are name, age, job, income"
    );
    let rows = |text: &str, reading: ReadOptions| {
        let root = folder(&[("t.csv", text.as_bytes())]);
        message(&root, "csv:DIR/t.csv", reading)
    };
    let y = || ReadOptions {
        ignore: vec![],
        ..of("y")
    };
    assert_eq!(
        rows("x,y\n1,a\n2\n", y()),
        "DIR/t.csv:3: expected 2 fields, as in the first line, found 1; correct this line (a field that contains the \
         separator needs quotes)"
    );
    assert!(
        rows("x,y\n1,a\n\"2,b\n3,a\n", y())
            .contains("a field begins with a quote that is not closed")
    );
    assert!(
        rows("1,2\n3,4\n", y())
            .starts_with("DIR/t.csv:1: expected the names of the columns, found `1,2`")
    );
    assert!(rows("x,x\n3,4\n", y()).contains("found the name `x` twice"));
    assert!(rows("y\na\nb\n", y()).contains("no column is left as an input"));
    assert!(rows("x,y\n1,a\n", y()).contains("column `y`: expected 2 to 65,535 classes, found 1"));
    let fractions: String = (0..50).map(|i| format!("{i},{i}.5\n")).collect();
    assert!(
        rows(&format!("x,y\n{fractions}"), y()).contains("column `y` holds numbers, such as `0.5`")
    );
    let names: String = (0..300).map(|i| format!("n{i},{}\n", i % 2)).collect();
    assert!(rows(&format!("x,y\n{names}"), y()).contains(
        "column `x` has more than 256 distinct texts, such as `n256` in line 258; leave it out"
    ));
    // One slip makes texts of all numbers.
    let slip: String = (0..300)
        .map(|i| format!("{}{i},{}\n", if i == 7 { "=" } else { "" }, i % 2))
        .collect();
    assert!(rows(&format!("x,y\n{slip}"), y()).ends_with(
        "`=7` in line 9 is no number, and most of the others are numbers: correct it, or leave the column out"
    ));
    assert_eq!(rows("x,y\n", y()), "DIR/t.csv holds no examples");
    // A message is short, and no terminal obeys it.
    let wide: String = (0..10_000).map(|i| format!("c{i},")).collect();
    let text = rows(&format!("{wide}z\n1\n"), y());
    assert!(
        text.ends_with("c28, c29 and 9971 more") && text.len() < 400,
        "{text}"
    );
    let text = rows(&"\0\x1b[2J".repeat(100_000), y());
    assert!(text.len() < 400 && !text.contains(['\0', '\x1b']), "{text}");
    let root = folder(&[("t/a.csv", b"x,y\n")]);
    assert_eq!(
        message(&root, "csv:DIR/t", y()),
        "DIR/t: expected a file, found a folder"
    );
}

#[test]
fn a_packed_table_has_a_limit() {
    let root = folder(&[]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"x,y\n").unwrap();
    for _ in 0..65 {
        encoder.write_all(&[b'1'; 1 << 20]).unwrap();
    }
    write(&root.path().join("t.csv.gz"), &encoder.finish().unwrap());
    let text = message(&root, "csv:DIR/t.csv.gz", of("y"));
    assert!(
        text.contains("expected a file that unpacks to at most 67108864 bytes"),
        "{text}"
    );
    assert!(!text.contains("get the file again"), "{text}");
}

#[test]
fn numbers_that_may_be_meant_otherwise_are_noted() {
    let rows: String = (0..60)
        .map(|i| format!("{},{},{}\n", 100 + i, i % 7, 20 + i % 53))
        .collect();
    let root = folder(&[("t.csv", format!("id,x,age\n{rows}").as_bytes())]);
    let reading = |target: &str, ignore: &[&str]| ReadOptions {
        ignore: ignore.iter().map(ToString::to_string).collect(),
        ..of(target)
    };
    let notes = read(&root, "csv:DIR/t.csv", reading("age", &[])).notes;
    assert_eq!(
        notes[..2],
        [
            "column `age` holds 53 different numbers, and each of them is a class of its own; if they are a quantity, \
             replace them by ranges",
            "column `id` has another whole number in each row and is an input; ignore the column if it only numbers the \
             rows"
        ]
    );
    assert!(
        read(&root, "csv:DIR/t.csv", reading("x", &["id"]))
            .notes
            .is_empty()
    );
}

/// A comma for the point, or one slip, makes a column of texts.
#[test]
fn texts_that_may_be_meant_as_numbers_are_noted() {
    let notes = |text: &str| {
        let root = folder(&[("t.csv", text.as_bytes())]);
        read(
            &root,
            "csv:DIR/t.csv",
            ReadOptions {
                ignore: vec![],
                ..of("y")
            },
        )
        .notes
    };
    let columns = notes("x;y;z\n1,5;a;1\n2,5;b;2\n3;a;o\n4,5;b;4\n1;a;1\n2;b;1\n");
    assert_eq!(
        columns[..2],
        [
            "column `x` is read as texts, an input for each: `1,5` in line 2 is no number, and a decimal number has a \
             point, not a comma",
            "column `z` is read as texts, an input for each: `o` in line 4 is no number, and most of the others are \
             numbers"
        ]
    );
    let plain = notes("x,y\n1,a\ncook,b\nnurse,a\nnurse,b\n1,a\n2,b\ncook,a\n");
    assert!(
        !plain.iter().any(|note| note.contains("read as texts")),
        "{plain:?}"
    );
}

/// Without the feature, the error says how to get it.
#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_needs_its_feature() {
    let root = folder(&[("people.parquet", b"PAR1")]);
    let error = message(&root, "parquet:DIR/people.parquet", of("income"));
    assert!(error.contains("feature `parquet`"), "{error}");
    let error = message(&root, "parquet:DIR/absent.parquet", of("income"));
    assert!(error.contains("does not exist"), "{error}");
}
