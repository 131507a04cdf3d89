//! Parts for testing: one without examples is an error, because nothing would be evaluated, and so is a share
//! of the examples for testing beside one.

use std::fs;

use fedround_data::own::{Broken, Missing};
use fedround_data::{Partition, ReadOptions};

use super::arrays::{npy, zip};
use super::images::grey;
use super::{folder, message, read, write};

#[test]
fn a_test_folder_without_images_is_an_error() {
    let root = folder(&[]);
    for class in ["cat", "dog"] {
        write(
            &root.path().join(format!("train/{class}/1.png")),
            &grey(4, 9),
        );
        fs::create_dir_all(root.path().join("test").join(class)).unwrap();
    }
    let text = message(&root, "images:DIR", ReadOptions::default());
    assert!(
        text.starts_with("DIR/test: expected a folder for each class")
            && text.ends_with("found folders without images"),
        "{text}"
    );
    // Neither are images that cannot be decoded.
    write(&root.path().join("test/cat/1.png"), b"no picture");
    let skip = ReadOptions {
        broken: Broken::Skip,
        ..ReadOptions::default()
    };
    assert_eq!(
        message(&root, "images:DIR", skip),
        "DIR/test holds no examples"
    );
}

#[test]
fn a_test_table_without_rows_is_an_error() {
    let root = folder(&[
        ("a.csv", b"age,job\n20,cook\n30,nurse\n"),
        ("none.csv", b"age,job"),
        ("gap.csv", b"age,job\n,cook\n"),
    ]);
    for name in ["none.csv", "gap.csv"] {
        let drop = ReadOptions {
            target: Some("job".to_owned()),
            missing: Missing::Drop,
            ..ReadOptions::default()
        };
        let text = message(&root, &format!("csv:DIR/a.csv,DIR/{name}"), drop);
        assert_eq!(text, format!("DIR/{name} holds no examples"));
    }
}

/// Test images without clients are those of all; clients without images to train on are none.
#[test]
fn a_part_without_clients_names_nobody() {
    let root = folder(&[]);
    let images = |part: &str| {
        for i in 0..2 {
            for class in ["cat", "dog"] {
                let image = root.path().join(format!("{part}/{class}/{i}.png"));
                write(&image, &grey(4, 9));
            }
        }
    };
    images("real/train/ann");
    images("real/train/bob");
    images("real/test");
    let data = read(&root, "images:DIR/real", ReadOptions::default());
    assert_eq!(data.group_names, ["ann", "bob"]);
    assert_eq!((data.clients(), &data.test_groups), (Some(2), &None));
    let splits = Partition::Natural.deal(&data, 2, 1).unwrap();
    assert_eq!([splits[0].train.len(), splits[1].train.len()], [4, 4]);
    assert_eq!([splits[0].test.len(), splits[1].test.len()], [2, 2]);

    images("tests/train");
    images("tests/test/ann");
    let text = message(&root, "images:DIR/tests", ReadOptions::default());
    assert!(
        text.starts_with("DIR/tests: expected a folder for each class")
            && text.ends_with(
                "found one more level in the part for testing, and none in the part for training"
            ),
        "{text}"
    );
}

#[test]
fn rows_that_are_left_out_are_those_of_their_table() {
    let root = folder(&[
        ("a.csv", b"x,job,y\n1,cook,p\n,cook,p\n,,q\n2,cook,q\n"),
        ("b.csv", b"x,job,y\n,cook,p\n4,cook,q\n"),
    ]);
    let drop = ReadOptions {
        target: Some("y".to_owned()),
        missing: Missing::Drop,
        ..ReadOptions::default()
    };
    let data = read(&root, "csv:DIR/a.csv,DIR/b.csv", drop);
    let left_out = data
        .notes
        .iter()
        .filter_map(|note| note.split_once(": left out "));
    let left_out: Vec<&str> = left_out.map(|(_, rows)| rows).collect();
    assert_eq!(
        left_out,
        [
            "2 rows with missing values (x 2, job 1)",
            "1 row with missing values (x 1)"
        ]
    );
}

/// What the training table does not have is an error in the test table, in its own line.
#[test]
fn a_test_table_does_not_decide_what_columns_are() {
    let many: String = (0..300).map(|i| format!("20,job {i},p\n")).collect();
    let root = folder(&[
        ("a.csv", b"age,job,y\n20,cook,p\n30,nurse,q\n"),
        ("few.csv", b"age,job,y\n40,cook,p\n"),
        ("text.csv", b"age,job,y\n20,cook,p\nold,cook,q\n"),
        ("new.csv", b"age,job,y\n20,nurs,p\n"),
        ("many.csv", format!("age,job,y\n{many}").as_bytes()),
    ]);
    let of_y = || ReadOptions {
        target: Some("y".to_owned()),
        ..ReadOptions::default()
    };
    let data = read(&root, "csv:DIR/a.csv,DIR/few.csv", of_y());
    let names = data.table.as_ref().unwrap().names();
    assert_eq!(names, ["age", "job=cook", "job=nurse"]);
    for (name, expected) in [
        ("text", "3: column `age`: expected a number, found `old`"),
        (
            "new",
            "2: column `job`: expected cook, nurse, found `nurs` (did you mean `nurse`?)",
        ),
        (
            "many",
            "2: column `job`: expected cook, nurse, found `job 0`",
        ),
    ] {
        let text = message(&root, &format!("csv:DIR/a.csv,DIR/{name}.csv"), of_y());
        assert_eq!(text, format!("DIR/{name}.csv:{expected}"));
    }
}

#[test]
fn a_test_array_without_examples_is_an_error() {
    let root = folder(&[
        ("x.npy", &npy("|u1", "(2, 1)", &[1, 2])),
        ("y.npy", &npy("|u1", "(2,)", &[0, 1])),
        ("tx.npy", &npy("|u1", "(0, 1)", &[])),
        ("ty.npy", &npy("|u1", "(0,)", &[])),
    ]);
    let both = "npy:DIR/x.npy,DIR/y.npy,DIR/tx.npy,DIR/ty.npy";
    assert_eq!(
        message(&root, both, ReadOptions::default()),
        "DIR/tx.npy holds no examples"
    );
}

#[test]
fn a_test_folder_of_leaf_without_examples_is_an_error() {
    let train = br#"{"user_data": {"a": {"x": [[0, 1], [1, 0]], "y": [0, 1]}}}"#;
    let test = br#"{"user_data": {"a": {"x": [], "y": []}}}"#;
    let root = folder(&[("train/all.json", train), ("test/all.json", test)]);
    let text = message(&root, "leaf:DIR", ReadOptions::default());
    assert_eq!(text, "DIR/test holds no examples");
}

#[test]
fn a_share_for_testing_beside_a_part_for_testing_is_an_error() {
    let leaf = br#"{"user_data": {"a": {"x": [[0, 1], [1, 0]], "y": [0, 1]}}}"#;
    let root = folder(&[("leaf/train/all.json", leaf), ("leaf/test/all.json", leaf)]);
    for image in ["train/cat/1", "train/dog/1", "test/cat/1", "test/dog/1"] {
        write(
            &root.path().join(format!("images/{image}.png")),
            &grey(4, 9),
        );
    }
    let half = ReadOptions {
        test_share: Some(0.5),
        ..ReadOptions::default()
    };
    for (place, dir) in [("leaf:DIR/leaf", "leaf"), ("images:DIR/images", "images")] {
        let text = message(&root, place, half.clone());
        for part in ["test_share", dir, "it has a part for testing"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn archives_may_have_a_test_part_under_either_name() {
    let x = npy("|u1", "(2, 1)", &[1, 2]);
    let [y, other] = [[0, 1], [0, 2]].map(|y| npy("|u1", "(2,)", &y));
    let archive = |names: &[&str]| {
        let of = |name: &&str| {
            let bytes = if name.starts_with('x') { &x } else { &y };
            (format!("{name}.npy"), &bytes[..])
        };
        let files: Vec<(String, &[u8])> = names.iter().map(of).collect();
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, of)| (&**name, *of)).collect();
        folder(&[("a.npz", &zip(&files, false))])
    };
    let of = |names: &[&str]| read(&archive(names), "npz:DIR/a.npz", ReadOptions::default());
    for names in [["x", "y"], ["x_train", "y_train"]] {
        let data = of(&[names[0], names[1], "x_test", "y_test"]);
        assert_eq!((data.train.len(), data.test.len()), (2, 2));
        let unread = data.notes.iter().any(|note| note.contains("not read"));
        assert!(!unread, "{:?}", data.notes);
    }
    let data = of(&["x", "y", "weights"]);
    let note = &data.notes[0];
    assert!(
        note.ends_with("a.npz: arrays that are not read: weights.npy"),
        "{note}"
    );
    let error = |names: &[&str]| message(&archive(names), "npz:DIR/a.npz", ReadOptions::default());
    assert_eq!(
        error(&["x_train", "y_train", "x_test", "Y_test"]),
        "DIR/a.npz: expected both arrays of a test part, `x_test` and `y_test`, or neither, found x_train.npy, \
         y_train.npy, x_test.npy, Y_test.npy; rename or remove them"
    );
    assert_eq!(
        error(&["x", "y", "x_train", "y_train"]),
        "DIR/a.npz: expected arrays `x` and `y`, or `x_train` and `y_train`, found both pairs; remove one"
    );
    // A class that only the test part has.
    let files = [
        ("x.npy", &x[..]),
        ("y.npy", &y),
        ("x_test.npy", &x),
        ("y_test.npy", &other),
    ];
    let root = folder(&[("a.npz", &zip(&files, false))]);
    assert_eq!(
        message(&root, "npz:DIR/a.npz", ReadOptions::default()),
        "DIR/a.npz/y_test.npy: class `2` is only in the test examples; give it training examples, or remove it"
    );
}

/// Scripts split LEAF's data, and the users of a part may lack rare classes.
#[test]
fn a_class_only_in_the_test_part_of_leaf_is_noted() {
    let train = br#"{"user_data": {"a": {"x": [[0, 1], [1, 0]], "y": [0, 1]}}}"#;
    let test = br#"{"user_data": {"b": {"x": [[0, 1], [1, 0], [1, 1]], "y": [0, 1, 7]}}}"#;
    let root = folder(&[("train/all.json", train), ("test/all.json", test)]);
    let data = read(&root, "leaf:DIR", ReadOptions::default());
    assert_eq!(data.notes[0], "classes without a training example: 7");
}

#[test]
fn all_of_a_file_without_a_test_part_may_be_for_testing() {
    let rows = b"a,y\n1,p\n2,q\n3,p\n4,r\n";
    let root = folder(&[("t.csv", rows), ("few.csv", b"a,y\n5,p\n6,q\n")]);
    let sizes = |location: &str, all_tests: bool| {
        let reading = ReadOptions {
            target: Some("y".to_owned()),
            all_tests,
            ..ReadOptions::default()
        };
        let data = read(&root, location, reading);
        (data.train.len(), data.test.len(), data.notes.len())
    };
    // Notes on classes with few examples to train on are for those who train.
    assert_eq!(sizes("csv:DIR/t.csv", true), (4, 4, 0));
    let (train, test, notes) = sizes("csv:DIR/t.csv", false);
    assert!(train + test == 4 && notes > 0, "{train}, {test}, {notes}");
    let parted = "csv:DIR/t.csv,DIR/few.csv";
    assert_eq!(sizes(parted, true), sizes(parted, false));
}
