//! VQA v2 (Goyal et al., 2017): questions about COCO's images with ten answers each.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use crate::formats::record::json;
use crate::text::questions::{Answers, COLUMNS, FORM, ImageRows, Question, QuestionSet, Questions};
use crate::text::{Form, NOMINAL_WORDS, words};
use crate::{DataError, DatasetInfo, RecordError};

pub(super) const VQA_V2: DatasetInfo = DatasetInfo {
    name: "vqa-v2",
    doc: "questions about COCO's photographs, ten answers each (Goyal et al., 2017)",
    classes: 3000,
    class_names: &[],
    shape: &FORM.image,
    files: &[
        "vqa-v2/v2_OpenEnded_mscoco_train2014_questions.json",
        "vqa-v2/v2_mscoco_train2014_annotations.json",
        "vqa-v2/v2_OpenEnded_mscoco_val2014_questions.json",
        "vqa-v2/v2_mscoco_val2014_annotations.json",
        "vqa-v2/train2014",
        "vqa-v2/val2014",
    ],
    how: "Unpack the training and validation questions and annotations of \
          https://visualqa.org/download.html in DIR/vqa-v2, and link COCO's train2014 and val2014 there",
    columns: COLUMNS,
    words: Some(NOMINAL_WORDS),
    read: |request| {
        request.existing::<6>()?;
        Ok(load(&request.path("vqa-v2")?, FORM)?.into_dataset(true))
    },
    ..DatasetInfo::BASE
};

/// The number of answers that are classes (1,000 in Antol et al., 2015, and 3,000 in later work).
const ANSWERS: u16 = 3000;

/// Loads the examples of a folder with the 3,000 most frequent answers of the training questions as
/// classes. The folder holds the four JSON files of questions and annotations, and COCO's images in
/// `train2014/` and `val2014/`. The validation questions are for testing, because the answers of the test
/// questions are not published.
///
/// # Errors
/// The errors of [`read`].
pub fn load(folder: &Path, form: Form) -> Result<QuestionSet, DataError> {
    let [train, test] = ["train2014", "val2014"].map(|split| {
        read(
            &folder.join(format!("v2_OpenEnded_mscoco_{split}_questions.json")),
            &folder.join(format!("v2_mscoco_{split}_annotations.json")),
            &folder.join(split),
            &format!("COCO_{split}_"),
        )
    });
    let train = train?;
    let answers = Answers::most_frequent(&train, ANSWERS);
    QuestionSet::new("vqa-v2", &train, &test?, &answers, form)
}

/// Reads the questions and answers of one split. The image files in the folder `images` are named by
/// `prefix`, such as `COCO_train2014_`, and the image's id of 12 digits. The kind of a question is its
/// `question_type`.
///
/// Departs: answers are compared by their [`words`]. The official evaluation also drops articles and writes
/// numbers as digits.
///
/// # Errors
/// A file is missing, JSON has another form, a question has no annotation or an annotation no question, or
/// an image does not exist.
pub fn read(
    questions: &Path,
    annotations: &Path,
    images: &Path,
    prefix: &str,
) -> Result<Questions, DataError> {
    let asked: QuestionFile = json(questions)?;
    let annotated: AnnotationFile = json(annotations)?;
    let kinds: BTreeSet<&str> = annotated
        .annotations
        .iter()
        .map(|a| &*a.question_type)
        .collect();
    let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
    let kind_of: HashMap<&str, u16> = kinds.iter().map(String::as_str).zip(0..).collect();
    let mut by_question: HashMap<u64, &Annotation> = annotated
        .annotations
        .iter()
        .map(|a| (a.question_id, a))
        .collect();
    let missing = RecordError::reference;
    let mut rows = ImageRows::default();
    let mut all = Vec::with_capacity(asked.questions.len());
    for question in asked.questions {
        let id = question.question_id;
        let annotation = by_question.remove(&id).filter(|a| !a.answers.is_empty());
        let annotation = annotation.ok_or_else(|| {
            missing(
                questions,
                "the answer of question",
                id.to_string(),
                annotations,
            )
        })?;
        let name = format!("{prefix}{:012}.jpg", question.image_id);
        let image = rows
            .row(&name, images, std::slice::from_ref(&name))
            .ok_or_else(|| missing(questions, "image", name, images))?;
        let answer = |a: &Answer| words(&a.answer).collect::<Vec<_>>().join(" ");
        all.push(Question {
            text: question.question,
            image,
            answers: annotation.answers.iter().map(answer).collect(),
            kind: kind_of[annotation.question_type.as_str()],
        });
    }
    if let Some(id) = by_question.into_keys().min() {
        return Err(missing(annotations, "question", id.to_string(), questions).into());
    }
    Questions::of_file(questions, all, rows, kinds)
}

#[derive(Deserialize)]
struct QuestionFile {
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
struct Asked {
    question_id: u64,
    image_id: u64,
    question: String,
}

#[derive(Deserialize)]
struct AnnotationFile {
    annotations: Vec<Annotation>,
}

#[derive(Deserialize)]
struct Annotation {
    question_id: u64,
    question_type: String,
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    answer: String,
}
