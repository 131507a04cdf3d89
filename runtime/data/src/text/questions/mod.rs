//! Questions about images (visual question answering).

mod answers;
mod question_set;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::DataError;

pub use answers::Answers;
pub(crate) use question_set::COLUMNS;
pub use question_set::{FORM, QuestionSet};

/// Questions about images. An image may have many questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Questions {
    /// The file of the questions.
    pub file: PathBuf,
    /// The questions, in the file's order.
    pub questions: Vec<Question>,
    /// The images' files, each once.
    pub images: Vec<PathBuf>,
    /// The dataset's kinds of questions. Empty if it has none.
    pub kinds: Vec<String>,
}

impl Questions {
    /// The questions of a file.
    ///
    /// # Errors
    /// There are none.
    pub(crate) fn of_file(
        file: &Path,
        questions: Vec<Question>,
        images: ImageRows,
        kinds: Vec<String>,
    ) -> Result<Self, DataError> {
        DataError::empty_if(questions.is_empty(), file)?;
        Ok(Self {
            file: file.to_path_buf(),
            questions,
            images: images.files,
            kinds,
        })
    }
}

/// A question about an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The text.
    pub text: String,
    /// The image, an index of [`Questions::images`].
    pub image: usize,
    /// The people's answers, at least one. Answers may repeat.
    pub answers: Vec<String>,
    /// Its kind, an index of [`Questions::kinds`]. 0 if there are no kinds.
    pub kind: u16,
}

/// Image files by their key in a dataset, each listed once.
#[derive(Default)]
pub(crate) struct ImageRows {
    files: Vec<PathBuf>,
    rows: HashMap<String, usize>,
}

impl ImageRows {
    /// The row of an image. Its file is the first of `names` that exists in `folder`. `None` if none of them
    /// exists.
    pub fn row(&mut self, key: &str, folder: &Path, names: &[String]) -> Option<usize> {
        if let Some(row) = self.rows.get(key) {
            return Some(*row);
        }
        let mut candidates = names.iter().map(|name| folder.join(name));
        self.files.push(candidates.find(|path| path.is_file())?);
        self.rows.insert(key.to_owned(), self.files.len() - 1);
        Some(self.files.len() - 1)
    }
}
