//! VQA v2 (Goyal et al., 2017).

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::{ImageRows, Question, Questions};
use crate::record::json;
use crate::text::words;
use crate::{DataError, RecordError};

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

/// The questions and answers of one split, about images called `PREFIX` and the
/// image's id of 12 digits, `.jpg`, in a folder; `PREFIX` is such as
/// `COCO_train2014_`. A question's kind is its `question_type`.
///
/// Departs: answers are compared by their [`words`]; the official evaluation
/// also drops articles and writes numbers as digits.
///
/// # Errors
/// A missing file, JSON of another form, a question without annotation or the
/// other way round, an image that is not there.
pub fn vqa(
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
    let missing = |path: &Path, what, name: String, place: &Path| RecordError::Reference {
        path: path.to_path_buf(),
        what,
        name,
        place: place.to_path_buf(),
    };
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
    if all.is_empty() {
        let path = questions.to_path_buf();
        return Err(DataError::Empty { path });
    }
    Ok(Questions {
        file: questions.to_path_buf(),
        questions: all,
        images: rows.files,
        kinds,
    })
}
