//! Small files of captions, questions and people: what they become, which error
//! a bad one is, and that no damage makes a loader panic or lose a record in silence.

use std::fs;
use std::path::{Path, PathBuf};

use fedround_data::DataError;
use fedround_data::adult::people;
use fedround_data::datasets::{coco, daquar, easy_vqa, flickr8k, vqa_v2};
use fedround_data::text::captions;
use fedround_data::text::questions::{self, Answers, QuestionSet};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder of these files; images hold one byte, since nothing here decodes them.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn message<T: std::fmt::Debug>(root: &TempDir, result: Result<T, DataError>) -> String {
    let error = result.expect_err("should not load").to_string();
    error.replace(&root.path().display().to_string(), "DIR")
}

const CAPTIONS: &str = "\
image,caption
a.jpg,A dog runs .
b.jpg,\"A cat, asleep\"
a.jpg,The dog is wet .
";

fn flickr(text: &str) -> TempDir {
    folder(&[
        ("captions.txt", text),
        ("Images/a.jpg", "-"),
        ("Images/b.jpg", "-"),
    ])
}

#[test]
fn flickr8k_captions_are_gathered_by_image() {
    let root = flickr(CAPTIONS);
    let captions = flickr8k::read(root.path()).unwrap();
    assert_eq!(captions.images.len(), 2);
    let dog = ["A dog runs .", "The dog is wet ."];
    assert_eq!(captions.images[0].captions, dog);
    assert_eq!(captions.images[1].captions, ["A cat, asleep"]);
}

#[test]
fn bad_captions_say_where() {
    let with = |from: &str, to: &str| {
        let root = flickr(&CAPTIONS.replace(from, to));
        message(&root, flickr8k::read(root.path()))
    };
    assert_eq!(
        with("b.jpg", "c.jpg"),
        "DIR/captions.txt:3: image: expected a file of DIR/Images, found `c.jpg`"
    );
    assert_eq!(
        with("image,caption", "photo,caption"),
        "DIR/captions.txt:1: expected the header `image,caption`, found `photo,caption`"
    );
    assert_eq!(
        with("asleep\"", "asleep"),
        "DIR/captions.txt:3: a quote is not closed; get the file again"
    );
    assert_eq!(
        with("wet .\n", "we"),
        "DIR/captions.txt breaks off in line 4; get the file again"
    );
    assert_eq!(
        with("A dog runs .", ""),
        "DIR/captions.txt:2: caption: expected words, found ``"
    );
    assert!(with("a.jpg,A dog", "a.jpg A dog").contains("captions.txt:2: expected 2 fields"));
    let root = flickr("image,caption\n");
    assert_eq!(
        message(&root, flickr8k::read(root.path())),
        "DIR/captions.txt holds no examples"
    );
}

const COCO: &str = r#"{"info": {}, "images": [{"id": 9, "file_name": "n.jpg"}, {"id": 4, "file_name": "f.jpg"}],
 "annotations": [{"id": 1, "image_id": 9, "caption": "two dogs \n"}, {"id": 2, "image_id": 4, "caption": "a bus"},
 {"id": 3, "image_id": 9, "caption": "a dog"}]}"#;
const INSTANCES: &str = r#"{"categories": [{"id": 18, "name": "dog"}, {"id": 6, "name": "bus"}],
 "annotations": [{"image_id": 9, "category_id": 18, "segmentation": [[1, 2]]}, {"image_id": 9, "category_id": 18},
 {"image_id": 4, "category_id": 6}, {"image_id": 4, "category_id": 18}]}"#;

fn coco_folder(captions: &str, instances: &str) -> TempDir {
    folder(&[
        ("captions.json", captions),
        ("instances.json", instances),
        ("images/n.jpg", "-"),
        ("images/f.jpg", "-"),
    ])
}

fn read_coco(root: &Path) -> Result<captions::Captions, DataError> {
    let instances = root.join("instances.json");
    coco::read(
        &root.join("images"),
        &root.join("captions.json"),
        Some(&instances),
    )
}

#[test]
fn coco_is_grouped_by_its_single_objects() {
    let root = coco_folder(COCO, INSTANCES);
    let all = read_coco(root.path()).unwrap();
    assert_eq!(all.categories, ["bus", "dog"]);
    assert_eq!(all.images[0].objects, [0, 1], "by id, 4 before 9");
    assert_eq!(all.images[1].captions, ["two dogs", "a dog"]);
    let (single, groups) = all.by_object();
    assert_eq!((single.images.len(), groups.of), (1, vec![1]));
}

#[test]
fn bad_coco_files_say_where() {
    let with = |from: &str, to: &str| {
        let root = coco_folder(&COCO.replace(from, to), &INSTANCES.replace(from, to));
        message(&root, read_coco(root.path()))
    };
    assert_eq!(
        with("n.jpg", "m.jpg"),
        "DIR/captions.json: image `m.jpg` is not in DIR/images"
    );
    assert!(with("\"id\": 4,", "\"id\": 5,").contains("the caption of image `5` is not in"));
    assert!(with("\"id\": 6,", "\"id\": 7,").contains("category `6` is not in"));
    let text = with("\"caption\": \"a bus\"", "\"text\": \"a bus\"");
    assert!(text.contains("missing field `caption` at line 2"), "{text}");
    let text = with(
        " {\"id\": 3, \"image_id\": 9, \"caption\": \"a dog\"}]}",
        "",
    );
    assert!(
        text.contains("EOF while parsing a value at line 3"),
        "{text}"
    );
}

const ASKED: &str = r#"{"questions": [{"question_id": 7, "image_id": 3, "question": "Is it wet?"},
 {"question_id": 8, "image_id": 3, "question": "What colour?"}]}"#;
const ANNOTATED: &str = r#"{"annotations": [{"question_id": 8, "question_type": "what", "answers": [{"answer": "Red"},
 {"answer": "blue"}, {"answer": "blue"}]}, {"question_id": 7, "question_type": "is it", "answers": [{"answer": "yes"}]}]}"#;

fn read_vqa(root: &Path) -> Result<questions::Questions, DataError> {
    let [asked, annotated] = ["asked.json", "annotated.json"].map(|name| root.join(name));
    vqa_v2::read(&asked, &annotated, &root.join("images"), "COCO_train2014_")
}

fn vqa_folder(asked: &str, annotated: &str) -> TempDir {
    folder(&[
        ("asked.json", asked),
        ("annotated.json", annotated),
        ("images/COCO_train2014_000000000003.jpg", "-"),
    ])
}

#[test]
fn vqa_questions_meet_their_answers() {
    let root = vqa_folder(ASKED, ANNOTATED);
    let all = read_vqa(root.path()).unwrap();
    assert_eq!(
        (all.images.len(), &all.kinds[..]),
        (1, &["is it".to_owned(), "what".to_owned()][..])
    );
    assert_eq!(all.questions[1].answers, ["red", "blue", "blue"]);
    assert_eq!((all.questions[0].kind, all.questions[1].kind), (0, 1));

    let answers = Answers::most_frequent(&all, 9);
    assert_eq!(answers.names(), ["blue", "yes"]);
    let set = QuestionSet::new("vqa-v2", &all, &all, &answers, questions::FORM).unwrap();
    assert_eq!(set.dataset.train.labels(), [1, 0]);
    assert_eq!(set.dataset.groups.as_deref(), Some(&[0, 1][..]));
    let one = Answers::most_frequent(&all, 1);
    let set = QuestionSet::new("vqa-v2", &all, &all, &one, questions::FORM).unwrap();
    assert_eq!(
        (set.dataset.train.labels(), set.left_out),
        (&[0][..], [1, 1])
    );
    assert_eq!(set.human, [["red", "blue", "blue"]]);
}

#[test]
fn bad_questions_say_where() {
    let root = vqa_folder(
        &ASKED.replace("\"image_id\": 3", "\"image_id\": 4"),
        ANNOTATED,
    );
    assert_eq!(
        message(&root, read_vqa(root.path())),
        "DIR/asked.json: image `COCO_train2014_000000000004.jpg` is not in DIR/images"
    );
    let root = vqa_folder(&ASKED.replace("_id\": 8", "_id\": 5"), ANNOTATED);
    assert_eq!(
        message(&root, read_vqa(root.path())),
        "DIR/asked.json: the answer of question `5` is not in DIR/annotated.json"
    );
    let root = folder(&[("questions.json", r#"[["is it red?", "yes", 2]]"#)]);
    assert_eq!(
        message(&root, easy_vqa::read(root.path())),
        "DIR/questions.json: image `2.png` is not in DIR/images"
    );
    let text = "question,answer,image_id\nwhat is it,,image1\n";
    let root = folder(&[("q.csv", text), ("images/image1.jpg", "-")]);
    assert_eq!(
        message(
            &root,
            daquar::read(&root.path().join("q.csv"), &root.path().join("images"))
        ),
        "DIR/q.csv:2: answer: expected a text, found ``"
    );
    let root = folder(&[("answers.txt", "yes\nno\nyes\n")]);
    assert_eq!(
        message(&root, Answers::read(&root.path().join("answers.txt"))),
        "DIR/answers.txt:3: answer: expected at most 65,535 answers, each once, found `yes`"
    );
}

/// A tiny folder of `train2014` and `val2014`: a set of captions needs both.
#[test]
fn coco_is_a_set_of_examples() {
    let images = r#"{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
        "annotations": [{"image_id": 1, "caption": "a dog"}, {"image_id": 1, "caption": "the dog"},
        {"image_id": 2, "caption": "a dog"}]}"#;
    let objects = r#"{"categories": [{"id": 18, "name": "dog"}],
        "annotations": [{"image_id": 1, "category_id": 18}, {"image_id": 2, "category_id": 18}]}"#;
    let mut files = vec![];
    for split in ["train2014", "val2014"] {
        for (kind, text) in [("captions", images), ("instances", objects)] {
            files.push((format!("annotations/{kind}_{split}.json"), text));
        }
        files.extend([1, 2].map(|i| (format!("{split}/{i}.jpg"), "-")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), *t)).collect();
    let root = folder(&files);
    let form = captions::FORM;
    let set = coco::load(root.path(), form).unwrap();
    let lengths = [&set.dataset.train, &set.validation, &set.dataset.test].map(|e| e.len());
    assert_eq!(lengths, [3, 1, 1]);
    assert_eq!(set.dataset.class_names, ["dog"]);
    let references = set.dataset.train.column("references").unwrap();
    assert_eq!(references.shape(), [5, form.length]);
}

const PEOPLE: &str = "\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.
38, ?, 89814, HS-grad, 9, Divorced, ?, Husband, White, Female, 10, 0, 50, ?, >50K.
";
const DAQUAR: &str = "\
question,answer,image_id
what is on the desk,\"lamp, book\",image1
how many chairs,2,image1
";
const EASY: &str = r#"[["is it red?", "yes", 0], ["what is it?", "circle", 0]]"#;

/// Reads the file as the format of this number; gives its records.
fn read(format: usize, bytes: &[u8]) -> Result<usize, DataError> {
    let root = folder(&[
        ("Images/a.jpg", "-"),
        ("Images/b.jpg", "-"),
        ("images/0.png", "-"),
        ("images/image1.jpg", "-"),
        ("images/n.jpg", "-"),
        ("images/f.jpg", "-"),
        ("images/COCO_train2014_000000000003.jpg", "-"),
        ("instances.json", INSTANCES),
        ("annotated.json", ANNOTATED),
    ]);
    let path: PathBuf = root.path().join(NAMES[format]);
    fs::write(&path, bytes).unwrap();
    match format {
        0 => people(&path).map(|p| p.len()),
        1 => flickr8k::read(root.path()).map(|c| c.images.iter().map(|i| i.captions.len()).sum()),
        2 => daquar::read(&path, &root.path().join("images")).map(|q| q.questions.len()),
        3 => easy_vqa::read(root.path()).map(|q| q.questions.len()),
        4 => read_coco(root.path()).map(|c| c.images.iter().map(|i| i.captions.len()).sum()),
        _ => read_vqa(root.path()).map(|q| q.questions.len()),
    }
}

const NAMES: [&str; 6] = [
    "adult.data",
    "captions.txt",
    "questions.csv",
    "questions.json",
    "captions.json",
    "asked.json",
];
const FILES: [(&str, usize); 6] = [
    (PEOPLE, 2),
    (CAPTIONS, 3),
    (DAQUAR, 2),
    (EASY, 2),
    (COCO, 3),
    (ASKED, 2),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A cut file is refused or, cut after a line, has the records of its lines.
    #[test]
    fn truncation_loses_nothing_in_silence(format in 0usize..6, at in 0usize..600) {
        let (text, records) = FILES[format];
        prop_assert_eq!(read(format, text.as_bytes()).unwrap(), records);
        let cut = &text.as_bytes()[..at.min(text.len() - 1)];
        if let Ok(found) = read(format, cut) {
            prop_assert!(format < 3, "JSON that breaks off");
            prop_assert!(cut.is_empty() || cut.ends_with(b"\n"));
            let lines = cut.iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(found, lines.saturating_sub(1));
        }
    }

    /// A flipped bit is refused or changes what records say, not how many there are.
    #[test]
    fn flipped_bits_never_panic(format in 0usize..6, at in 0usize..600, bit in 0u32..8) {
        let (text, records) = FILES[format];
        let mut bytes = text.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        match read(format, &bytes) {
            Ok(found) => prop_assert_eq!(found, records),
            Err(error) => prop_assert!(error.to_string().contains(NAMES[format]) || format == 5),
        }
    }
}
