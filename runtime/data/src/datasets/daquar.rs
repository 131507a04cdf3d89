//! DAQUAR (Malinowski and Fritz, 2014) as CSV.

use std::path::Path;

use super::{ImageRows, Question, Questions};
use crate::DataError;
use crate::record::Records;

const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];

/// The questions of a file of lines `question,answer,image_id` below a header,
/// about the images `ID.png`, `.jpg` or `.jpeg` in a folder. Where several things
/// are the answer, with commas between them, each is one.
///
/// # Errors
/// A missing file, and [`RecordError`](crate::RecordError) for a line without
/// question or answer, or about an image that is not there.
pub fn daquar(file: &Path, images: &Path) -> Result<Questions, DataError> {
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
    if questions.is_empty() {
        let path = file.to_path_buf();
        return Err(DataError::Empty { path });
    }
    Ok(Questions {
        file: file.to_path_buf(),
        questions,
        images: rows.files,
        kinds: Vec::new(),
    })
}
