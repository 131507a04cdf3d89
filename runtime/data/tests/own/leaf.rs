use fedround_data::own::{LETTERS, Normalize};
use fedround_data::{Partition, ReadOptions};

use super::{folder, message, read};

const TRAIN: &str = r#"{"users": ["f1", "f2"], "num_samples": [2, 1], "user_data": {
  "f1": {"x": [[0.5, 1], [0, 0]], "y": [3, 4]},
  "f2": {"x": [[1, 1]], "y": [4]}}}"#;
const TEST: &str =
    r#"{"users": ["f2"], "num_samples": [1], "user_data": {"f2": {"x": [[1, 0]], "y": [3]}}}"#;

fn plain() -> ReadOptions {
    ReadOptions {
        normalize: Normalize::None,
        ..ReadOptions::default()
    }
}

#[test]
fn users_are_clients() {
    let root = folder(&[
        ("data/train/all_0.json", TRAIN.as_bytes()),
        ("data/test/all_0.json", TEST.as_bytes()),
    ]);
    let data = read(&root, "leaf:DIR", plain());
    assert_eq!((data.train.len(), data.test.len()), (3, 1));
    assert_eq!(data.class_names, ["3", "4"]);
    assert_eq!(data.group_names, ["f1", "f2"]);
    let splits = Partition::Natural.deal(&data, 2, 1).unwrap();
    assert_eq!([splits[0].train.len(), splits[1].train.len()], [2, 1]);
    assert_eq!([splits[0].test.len(), splits[1].test.len()], [0, 1]);
}

#[test]
fn texts_have_the_ids_of_their_characters() {
    let text = r#"{"user_data": {"ROMEO": {"x": ["But, s", "oft! é"], "y": ["o", "\n"]},
        "JULIET": {"x": ["O Rome"], "y": ["o"]}}}"#;
    let root = folder(&[("all.json", text.as_bytes())]);
    let data = read(&root, "leaf:DIR", ReadOptions::default());
    assert_eq!(data.classes, LETTERS.len() + 1);
    let tokens = data.train.column("tokens").unwrap();
    assert_eq!(tokens.shape(), [6]);
    let all: Vec<usize> = (0..data.train.len()).collect();
    let mut ids = vec![0; 6 * all.len()];
    tokens.gather_ids_into(&all, &mut ids).unwrap();
    let known = |c: char| LETTERS.find(c).map_or(LETTERS.len(), |at| at) as i32;
    assert!(
        ids.chunks(6)
            .any(|row| row[0] == known('O') || row[0] == known('B') || row[5] == 80)
    );
    let names = data
        .train
        .labels()
        .iter()
        .map(|&y| &*data.class_names[usize::from(y)]);
    assert!(names.clone().all(|name| name == "o" || name == "\\n"));
}

/// Texts are windows of one text, so a split of them has the same characters in both parts.
#[test]
fn texts_that_are_split_here_are_noted() {
    let text: &[u8] = br#"{"user_data": {"ROMEO": {"x": ["abc", "bcd"], "y": ["d", "e"]}}}"#;
    let notes = |files: &[(&str, &[u8])]| read(&folder(files), "leaf:DIR", plain()).notes;
    let split = notes(&[("all.json", text)]);
    assert!(
        split.len() == 1 && split[0].contains("the test accuracy is too high"),
        "{split:?}"
    );
    assert_eq!(
        notes(&[("train/a.json", text), ("test/a.json", text)]),
        [""; 0]
    );
}

#[test]
fn bad_files_name_the_user() {
    let error = |text: &str| {
        let root = folder(&[("a.json", text.as_bytes())]);
        message(&root, "leaf:DIR", plain())
    };
    assert_eq!(
        error(r#"{"user_data": {"f1": {"x": [[1, 2], [3]], "y": [0, 1]}}}"#),
        "DIR/a.json: user `f1`: expected inputs of one kind and of length 2, found 1 numbers"
    );
    assert_eq!(
        error(r#"{"user_data": {"f1": {"x": [[1, 2]], "y": [0, 1]}}}"#),
        "DIR/a.json: user `f1`: expected 2 inputs, one for each target, found 1"
    );
    assert_eq!(
        error(r#"{"user_data": {"f1": {"x": [[1, 1e39]], "y": [0]}}}"#),
        "DIR/a.json: user `f1`: expected numbers of at most 3.4e38, found a larger one, number 2 of an input"
    );
    // CelebA names its images.
    assert_eq!(
        error(r#"{"user_data": {"f1": {"x": ["1.jpg"], "y": [1]}}}"#),
        "DIR/a.json: user `f1`: expected the next character as the target of each text (files of images by name, as of \
         CelebA, are not read), found the number 1"
    );
    assert_eq!(
        error(r#"{"user_data": {"f1": {"x": [[]], "y": [1]}}}"#),
        "DIR/a.json: user `f1`: expected inputs that are not empty, found 0 numbers"
    );
    assert!(
        error(r#"{"user_data": {"f1": {"x": ["ab"], "y": ["cd"]}}}"#)
            .contains("the next character")
    );
    assert!(
        error(r#"{"user_data": {"f1": {"x": [[1"#)
            .contains("DIR/a.json: expected the JSON of LEAF, found another text: EOF")
    );
    assert!(message(&folder(&[]), "leaf:DIR", plain()).contains("expected JSON files of LEAF"));
}
