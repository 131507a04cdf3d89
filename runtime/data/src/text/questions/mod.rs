//! Questions about images.

mod answers;
mod question_set;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use answers::Answers;
pub(crate) use question_set::COLUMNS;
pub use question_set::{FORM, QuestionSet};

/// Questions about images, of which an image may have many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Questions {
    /// The file of the questions.
    pub file: PathBuf,
    /// The questions, in the file's order.
    pub questions: Vec<Question>,
    /// The images' files, each once.
    pub images: Vec<PathBuf>,
    /// The kinds of questions, as the dataset has them; none where it has none.
    pub kinds: Vec<String>,
}

/// A question about an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub text: String,
    /// The image, an index of [`Questions::images`].
    pub image: usize,
    /// What people answered, at least one; the same answer may come more than once.
    pub answers: Vec<String>,
    /// Its kind, an index of [`Questions::kinds`]; 0 where there are none.
    pub kind: u16,
}

/// Image files by their key in a dataset, each listed once.
#[derive(Default)]
pub(crate) struct ImageRows {
    pub files: Vec<PathBuf>,
    rows: HashMap<String, usize>,
}

impl ImageRows {
    /// The row of an image, whose file is the first of `names` that `folder`
    /// has; `None` if it has none of them.
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
