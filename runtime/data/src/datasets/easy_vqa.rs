//! easy-VQA (Zhou, 2019): questions about synthetic shapes.

use std::path::Path;

use crate::formats::record::json;
use crate::text::questions::{Answers, COLUMNS, FORM, ImageRows, Question, QuestionSet, Questions};
use crate::text::{Form, NOMINAL_WORDS};
use crate::{DataError, DatasetInfo, RecordError};

pub(super) const EASY_VQA: DatasetInfo = DatasetInfo {
    name: "easy-vqa",
    doc: "questions about coloured shapes (Zhou, 2019)",
    classes: 13,
    class_names: &[],
    shape: &FORM.image,
    files: &[
        "easy_vqa/answers.txt",
        "easy_vqa/train/questions.json",
        "easy_vqa/train/images",
        "easy_vqa/test/questions.json",
        "easy_vqa/test/images",
    ],
    how: "Put easy_vqa/data of https://github.com/vzhou842/easy-VQA into DIR as easy_vqa",
    columns: COLUMNS,
    words: Some(NOMINAL_WORDS),
    read: |request| {
        request.existing::<5>()?;
        Ok(load(&request.path("easy_vqa")?, FORM)?.into_dataset(false))
    },
    ..DatasetInfo::BASE
};

/// Loads the examples of a folder with `train/`, `test/` and `answers.txt`.
///
/// # Errors
/// The errors of [`read`] and [`Answers::read`].
pub fn load(folder: &Path, form: Form) -> Result<QuestionSet, DataError> {
    let [train, test] = ["train", "test"].map(|split| read(&folder.join(split)));
    let answers = Answers::read(&folder.join("answers.txt"))?;
    QuestionSet::new("easy-vqa", &train?, &test?, &answers, form)
}

/// Reads the questions of a folder. It holds `questions.json`, a list of `[question, answer, image]`, and
/// the images `images/0.png`, `images/1.png` and so on.
///
/// # Errors
/// A file is missing, JSON has another form, or a question is about an image that does not exist.
pub fn read(folder: &Path) -> Result<Questions, DataError> {
    let path = folder.join("questions.json");
    let images = folder.join("images");
    let mut rows = ImageRows::default();
    let listed: Vec<(String, String, u64)> = json(&path)?;
    let mut questions = Vec::with_capacity(listed.len());
    for (text, answer, image) in listed {
        let name = format!("{image}.png");
        let row = rows.row(&name, &images, std::slice::from_ref(&name));
        let image = row.ok_or_else(|| RecordError::reference(&path, "image", name, &images))?;
        questions.push(Question {
            text,
            image,
            answers: vec![answer],
            kind: 0,
        });
    }
    Questions::of_file(&path, questions, rows, Vec::new())
}
