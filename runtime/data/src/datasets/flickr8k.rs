//! Flickr8k (Hodosh et al., 2013), in the form in which it is distributed on Kaggle.

use std::collections::HashMap;
use std::path::Path;

use fedround_random::{Purpose, StreamKey, permutation};

use crate::formats::record::Records;
use crate::text::captions::{COLUMNS, CaptionSet, Captioned, Captions, FORM, Part};
use crate::text::{Form, NOMINAL_WORDS, Topics};
use crate::{DataError, DatasetInfo};

pub(super) const FLICKR8K: DatasetInfo = DatasetInfo {
    name: "flickr8k",
    doc: "photographs with five captions, by topic (Hodosh et al., 2013)",
    classes: 20,
    class_names: &[],
    shape: &FORM.image,
    files: &["flickr8k/captions.txt", "flickr8k/Images"],
    how: "Unpack https://www.kaggle.com/datasets/adityajn105/flickr8k in DIR/flickr8k",
    columns: COLUMNS,
    words: Some(NOMINAL_WORDS),
    read: |request| {
        request.existing::<2>()?;
        Ok(load(&request.path("flickr8k")?, FORM, request.seed)?.dataset)
    },
    ..DatasetInfo::BASE
};

/// Reads the captions of a folder. It holds `captions.txt`, which has lines of `image,caption` below a
/// header, and the images in `Images/`. The categories of objects are not known.
///
/// # Errors
/// A file is missing, or a line has no caption or refers to an image that does not exist
/// ([`RecordError`](crate::RecordError)).
pub fn read(folder: &Path) -> Result<Captions, DataError> {
    let path = folder.join("captions.txt");
    let images = folder.join("Images");
    let mut gathered = Gathered::default();
    let records = Records::open(&path)?;
    for record in records.rows_below::<2>("image,caption")? {
        let record = record?;
        let (image, caption) = (record.text(0), record.text(1));
        if caption.is_empty() {
            return Err(record.wrong(1, "caption", "words".to_owned()).into());
        }
        if !gathered.places.contains_key(image) && !images.join(image).is_file() {
            let expected = format!("a file of {}", images.display());
            return Err(record.wrong(0, "image", expected).into());
        }
        gathered.add(image, caption);
    }
    let captioned = |(name, captions): (String, Vec<String>)| Captioned {
        image: images.join(name),
        captions,
        objects: Vec::new(),
    };
    let all = gathered.keys.into_iter().zip(gathered.captions);
    let images: Vec<_> = all.map(captioned).collect();
    DataError::empty_if(images.is_empty(), &path)?;
    Ok(Captions {
        images,
        categories: Vec::new(),
    })
}

/// Loads the examples of a folder that [`read`] reads, grouped by topic. One image in eight is for
/// validation, and one in eight for testing.
///
/// Departs: the published lists of 6,000, 1,000 and 1,000 images are not among the files. The images are
/// drawn with `seed` instead.
///
/// # Errors
/// The errors of [`read`], and fewer than 8 images.
pub fn load(folder: &Path, form: Form, seed: u64) -> Result<CaptionSet, DataError> {
    let all = read(folder)?;
    let groups = all.by_topic(Topics::default());
    let order = permutation(all.images.len(), StreamKey::new(seed, Purpose::Split));
    let eighth = order.len() / 8;
    DataError::empty_if(eighth == 0, &folder.join("captions.txt"))?;
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
    CaptionSet::new("flickr8k", parts, groups.names, form)
}

/// Captions by image, in the order in which the images first appear.
#[derive(Default)]
struct Gathered {
    keys: Vec<String>,
    captions: Vec<Vec<String>>,
    places: HashMap<String, usize>,
}

impl Gathered {
    fn add(&mut self, key: &str, caption: &str) {
        let place = self.places.get(key).copied().unwrap_or_else(|| {
            self.places.insert(key.to_owned(), self.keys.len());
            self.keys.push(key.to_owned());
            self.captions.push(Vec::new());
            self.keys.len() - 1
        });
        self.captions[place].push(caption.to_owned());
    }
}
