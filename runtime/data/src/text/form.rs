//! Turns images with text into the columns of a dataset.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Column, DataError, Fit, ImageFiles, Scale};

/// Bytes of decoded images that are kept.
const CACHE: usize = 1 << 29;

/// The number of words that models are built for while the files have not been read. The vocabularies of
/// the files differ.
pub(crate) const NOMINAL_WORDS: usize = 1000;

/// How images with text become columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Channels, height and width of an image.
    pub image: [usize; 3],
    /// How an image of another size is brought to that shape.
    pub fit: Fit,
    /// `T`: the number of ids of a sentence or question, including padding.
    pub length: usize,
    /// How often a word must occur in the training texts to get an id.
    pub min_count: usize,
}

impl Form {
    /// The column `x` of images. `rows` gives the file of each example. Files are decoded when they are
    /// gathered.
    pub(super) fn images(&self, files: Vec<PathBuf>, rows: &[usize]) -> Result<Column, DataError> {
        let files = ImageFiles::new(files, self.image, self.fit)?.with_cache(CACHE);
        let all = Column::images("x", files, Scale::Centred)?;
        Ok(all.subset(&Arc::from(rows)))
    }

    /// The columns `tokens`, `[T]`, and `length`, `[]`, of some texts. `write` appends the ids of a text and
    /// returns how many of them are not padding.
    pub(super) fn tokens<'a>(
        &self,
        texts: impl Iterator<Item = &'a str>,
        write: impl Fn(&str, usize, &mut Vec<i32>) -> usize,
    ) -> Result<[Column; 2], DataError> {
        let (mut ids, mut lengths) = (Vec::new(), Vec::new());
        for text in texts {
            // At most `length`, which fits whatever memory holds.
            lengths.push(write(text, self.length, &mut ids) as i32);
        }
        Ok([
            Column::ids("tokens", [self.length], ids)?,
            Column::ids("length", [], lengths)?,
        ])
    }
}
