//! easy-VQA (Zhou, 2019): synthetic shapes.

use std::path::Path;

use super::{ImageRows, Question, Questions};
use crate::record::json;
use crate::{DataError, RecordError};

/// The questions of a folder that holds `questions.json`, a list of `[question,
/// answer, image]`, and the images in `images/`, called `0.png` and so on.
///
/// # Errors
/// A missing file, JSON of another form, a question about an image that is not there.
pub fn easy_vqa(folder: &Path) -> Result<Questions, DataError> {
    let path = folder.join("questions.json");
    let images = folder.join("images");
    let mut rows = ImageRows::default();
    let listed: Vec<(String, String, u64)> = json(&path)?;
    let mut questions = Vec::with_capacity(listed.len());
    for (text, answer, image) in listed {
        let name = format!("{image}.png");
        let row = rows.row(&name, &images, std::slice::from_ref(&name));
        let image = row.ok_or_else(|| RecordError::Reference {
            path: path.clone(),
            what: "image",
            name,
            place: images.clone(),
        })?;
        questions.push(Question {
            text,
            image,
            answers: vec![answer],
            kind: 0,
        });
    }
    if questions.is_empty() {
        return Err(DataError::Empty { path });
    }
    Ok(Questions {
        file: path,
        questions,
        images: rows.files,
        kinds: Vec::new(),
    })
}
