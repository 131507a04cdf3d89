//! Captions as examples.

use std::path::Path;
use std::sync::Arc;

use super::{Captioned, Captions, Groups, coco, flickr8k};
use crate::text::pictures::Form;
use crate::text::{Topics, Vocabulary};
use crate::{Column, DataError, Dataset, Examples, Fit, Language};
use fedround_random::{Purpose, StreamKey, permutation};

/// The captions of an image that count as references.
pub const REFERENCES: usize = 5;

/// Images with captions as examples: columns `x`, an image, `tokens`, `[T]`, a
/// [sentence](Vocabulary::sentence), `length`, `[]`, its ids that are not
/// padding, and `references`, `[5, T]`, the first five captions of the image, all
/// padding where it has fewer. Labels, and groups, are what an image is about.
///
/// There is a training example for each caption, but one for each image to
/// validate and test on, with its first caption. Images are decoded as they are
/// gathered and shared by their captions.
#[derive(Clone, Debug)]
pub struct CaptionSet {
    /// Training and test examples.
    pub dataset: Dataset,
    /// Examples to choose models by.
    pub validation: Examples,
    /// The words of the training captions.
    pub vocabulary: Vocabulary,
}

/// 64 x 64 pixels in colour, 20 ids, words that occur five times.
pub const FORM: Form = Form {
    image: [3, 64, 64],
    fit: Fit::Crop,
    length: 20,
    min_count: 5,
};

/// The images of COCO's validation split that are validated on, and as many tested.
const COCO_HELD_OUT: usize = 5000;

/// Images and what each is about.
struct Part {
    images: Vec<Captioned>,
    of: Vec<u16>,
}

impl CaptionSet {
    /// Flickr8k, from a folder as [`flickr8k`] reads it, grouped by topic. One
    /// image in eight each is validated and tested on.
    ///
    /// Departs: the published lists of 6,000, 1,000 and 1,000 images are not
    /// among the files; `seed` draws the images instead.
    ///
    /// # Errors
    /// As [`flickr8k`]; fewer than 8 images.
    pub fn flickr8k(folder: &Path, form: Form, seed: u64) -> Result<Self, DataError> {
        let all = flickr8k(folder)?;
        let groups = all.by_topic(Topics::default());
        let order = permutation(all.images.len(), StreamKey::new(seed, Purpose::Split));
        let eighth = order.len() / 8;
        if eighth == 0 {
            let path = folder.join("captions.txt");
            return Err(DataError::Empty { path });
        }
        let part = |indices: &[usize]| {
            let mut indices = indices.to_vec();
            indices.sort_unstable();
            Part {
                images: indices.iter().map(|&i| all.images[i].clone()).collect(),
                of: indices.iter().map(|&i| groups.of[i]).collect(),
            }
        };
        let parts = [
            part(&order[2 * eighth..]),
            part(&order[..eighth]),
            part(&order[eighth..2 * eighth]),
        ];
        Self::new("flickr8k", parts, groups.names, form)
    }

    /// MS COCO 2014, from a folder of `annotations/`, `train2014/` and
    /// `val2014/`: the images that show objects of one category, grouped by it,
    /// as FedAA's non-IID captions. Of the published validation images the first
    /// 5,000 are validated and the next 5,000 tested on, each half of what there
    /// is at most.
    ///
    /// Departs: FedAA does not say from which images it takes those.
    ///
    /// # Errors
    /// As [`coco`]; no such image.
    pub fn coco(folder: &Path, form: Form) -> Result<Self, DataError> {
        let annotations = folder.join("annotations");
        let split = |split: &str| {
            let captions = annotations.join(format!("captions_{split}.json"));
            let instances = annotations.join(format!("instances_{split}.json"));
            let read = coco(&folder.join(split), &captions, Some(&instances))?;
            Ok::<_, DataError>(read.by_object())
        };
        let ((train, of), (held_out, held_out_of)) = (split("train2014")?, split("val2014")?);
        let names = of.names.clone();
        let mut train = Part::new(train, of);
        let mut validation = Part::new(held_out, held_out_of);
        let half = (validation.images.len() / 2).min(COCO_HELD_OUT);
        let mut test = validation.split_off(half);
        test.split_off(half);
        for part in [&mut train, &mut validation, &mut test] {
            if part.images.is_empty() {
                let path = annotations;
                return Err(DataError::Empty { path });
            }
        }
        Self::new("coco", [train, validation, test], names, form)
    }

    fn new(
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
    fn new(captions: Captions, groups: Groups) -> Self {
        Self {
            images: captions.images,
            of: groups.of,
        }
    }

    fn split_off(&mut self, at: usize) -> Self {
        Self {
            images: self.images.split_off(at),
            of: self.of.split_off(at),
        }
    }

    /// An example for each caption if `every`, else for each image.
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
            references.resize((row + 1) * REFERENCES * form.length, crate::text::PAD);
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
