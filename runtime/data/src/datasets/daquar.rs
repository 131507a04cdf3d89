//! DAQUAR (Malinowski and Fritz, 2014) as CSV.

use std::path::Path;

use crate::formats::record::Records;
use crate::text::questions::{Answers, COLUMNS, FORM, ImageRows, Question, QuestionSet, Questions};
use crate::text::{Form, NOMINAL_WORDS};
use crate::{DataError, DatasetInfo};

pub(super) const DAQUAR: DatasetInfo = DatasetInfo {
    name: "daquar",
    doc: "questions about photographs of rooms (Malinowski and Fritz, 2014)",
    classes: 582,
    class_names: &[],
    shape: &FORM.image,
    files: &[
        "daquar/data_train.csv",
        "daquar/data_eval.csv",
        "daquar/answer_space.txt",
        "daquar/images",
    ],
    how: "Put the folder dataset of https://github.com/tezansahu/VQA-With-Multimodal-Transformers \
          into DIR as daquar",
    columns: COLUMNS,
    words: Some(NOMINAL_WORDS),
    read: |request| {
        request.existing::<4>()?;
        Ok(load(&request.path("daquar")?, FORM)?.into_dataset(false))
    },
    ..DatasetInfo::BASE
};

const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];

/// Loads the examples of a folder with `data_train.csv`, `data_eval.csv`, `answer_space.txt` and
/// `images/`. Training and test questions share images.
///
/// # Errors
/// The errors of [`read`] and [`Answers::read`].
pub fn load(folder: &Path, form: Form) -> Result<QuestionSet, DataError> {
    let images = folder.join("images");
    let [train, test] =
        ["data_train.csv", "data_eval.csv"].map(|file| read(&folder.join(file), &images));
    let answers = Answers::read(&folder.join("answer_space.txt"))?;
    QuestionSet::new("daquar", &train?, &test?, &answers, form)
}

/// Reads the questions of a file of lines `question,answer,image_id` below a header. The images are
/// `ID.png`, `ID.jpg` or `ID.jpeg` in the folder `images`. An answer with commas counts as several answers.
///
/// # Errors
/// The file is missing, or a line has no question or no answer, or is about an image that does not exist
/// ([`RecordError`](crate::RecordError)).
pub fn read(file: &Path, images: &Path) -> Result<Questions, DataError> {
    let records = Records::open(file)?;
    let mut rows = ImageRows::default();
    let mut questions = Vec::new();
    for record in records.rows_below::<3>("question,answer,image_id")? {
        let record = record?;
        for (index, field) in [(0, "question"), (1, "answer"), (2, "image_id")] {
            if record.text(index).is_empty() {
                return Err(record.wrong(index, field, "a text".to_owned()).into());
            }
        }
        let id = record.text(2);
        let names = EXTENSIONS.map(|extension| format!("{id}.{extension}"));
        let image = rows.row(id, images, &names).ok_or_else(|| {
            let expected = format!("an image in {}", images.display());
            record.wrong(2, "image_id", expected)
        })?;
        let answers = record.text(1).split(',').map(|a| a.trim().to_owned());
        questions.push(Question {
            text: record.text(0).to_owned(),
            image,
            answers: answers.collect(),
            kind: 0,
        });
    }
    Questions::of_file(file, questions, rows, Vec::new())
}
