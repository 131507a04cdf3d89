//! Examples of images with captions.

use std::sync::Arc;

use super::{Captioned, Captions, Groups};
use crate::text::form::Form;
use crate::text::language::Language;
use crate::text::vocabulary::{PAD, Vocabulary};
use crate::{Column, DataError, Dataset, Examples, Fit};

/// The number of captions of an image that count as references.
pub const REFERENCES: usize = 5;

/// Images with captions as examples.
///
/// | column | shape | contents |
/// |---|---|---|
/// | `x` | `[3, height, width]` | the image |
/// | `tokens` | `[T]` | a caption as a [sentence](Vocabulary::sentence) |
/// | `length` | `[]` | the number of its ids that are not padding |
/// | `references` | `[5, T]` | the first five captions of the image; rows of padding if there are fewer |
///
/// Labels and groups are what an image is about. There is a training example for each caption. For
/// validation and test, there is one for each image, with its first caption. Images are decoded when they
/// are gathered, and the captions of an image share it.
#[derive(Clone, Debug)]
pub struct CaptionSet {
    /// Training and test examples.
    pub dataset: Dataset,
    /// Validation examples, to choose models by.
    pub validation: Examples,
    /// The words of the training captions.
    pub vocabulary: Vocabulary,
}

/// The form of the caption datasets: 64 x 64 pixels in colour, 20 ids, words that occur five times.
pub const FORM: Form = Form {
    image: [3, 64, 64],
    fit: Fit::Crop,
    length: 20,
    min_count: 5,
};

/// The columns besides `x`.
pub(crate) const COLUMNS: &[(&str, &[usize])] = &[
    ("tokens", &[FORM.length]),
    ("length", &[]),
    ("references", &[REFERENCES, FORM.length]),
];

/// Images and the group of each.
pub(crate) struct Part {
    pub images: Vec<Captioned>,
    pub of: Vec<u16>,
}

impl CaptionSet {
    /// The set of training, validation and test images. `groups` are the names of what images are about.
    pub(crate) fn new(
        name: &str,
        [train, validation, test]: [Part; 3],
        groups: Vec<String>,
        form: Form,
    ) -> Result<Self, DataError> {
        let human = test.images.iter().map(|image| image.captions.clone());
        let human: Arc<[Vec<String>]> = human.collect();
        let captions = train.images.iter().flat_map(|image| &image.captions);
        let vocabulary = Vocabulary::new(captions.map(String::as_str), form.min_count);
        let encode = |part: &Part, every| part.examples(&vocabulary, form, every);
        let (train, test) = (encode(&train, true)?, encode(&test, false)?);
        let validation = encode(&validation, false)?;
        let of = |examples: &Examples| -> Arc<[u32]> {
            examples.labels().iter().map(|&l| u32::from(l)).collect()
        };
        let (train_of, test_of) = (of(&train), of(&test));
        let mut dataset = Dataset::new(name, train, test, groups.clone());
        dataset.language = Some(Language {
            vocabulary: Arc::new(vocabulary.clone()),
            human,
            left_out: 0,
        });
        Ok(Self {
            dataset: dataset.with_groups(train_of, test_of, groups)?,
            validation,
            vocabulary,
        })
    }
}

impl Part {
    pub fn new(captions: Captions, groups: Groups) -> Self {
        Self {
            images: captions.images,
            of: groups.of,
        }
    }

    pub fn split_off(&mut self, at: usize) -> Self {
        Self {
            images: self.images.split_off(at),
            of: self.of.split_off(at),
        }
    }

    /// An example for each caption if `every` is set, else for each image.
    fn examples(
        &self,
        vocabulary: &Vocabulary,
        form: Form,
        every: bool,
    ) -> Result<Examples, DataError> {
        let (mut rows, mut texts) = (Vec::new(), Vec::new());
        let mut references = Vec::new();
        for (row, image) in self.images.iter().enumerate() {
            let used = if every { image.captions.len() } else { 1 };
            for caption in &image.captions[..used] {
                rows.push(row);
                texts.push(caption.as_str());
            }
            for caption in image.captions.iter().take(REFERENCES) {
                vocabulary.sentence(caption, form.length, &mut references);
            }
            references.resize((row + 1) * REFERENCES * form.length, PAD);
        }
        let files = self
            .images
            .iter()
            .map(|image| image.image.clone())
            .collect();
        let write = |text: &str, n: usize, ids: &mut Vec<i32>| vocabulary.sentence(text, n, ids);
        let [tokens, length] = form.tokens(texts.into_iter(), write)?;
        let references = Column::ids("references", [REFERENCES, form.length], references)?;
        let columns = vec![
            form.images(files, &rows)?,
            tokens,
            length,
            references.subset(&Arc::from(&*rows)),
        ];
        let labels: Vec<u16> = rows.iter().map(|&row| self.of[row]).collect();
        Ok(Examples::of_columns(columns, labels)?)
    }
}
