//! Flickr8k, as it is spread on Kaggle.

use std::path::Path;

use super::{Captioned, Captions, Gathered};
use crate::DataError;
use crate::record::Records;

/// The images and captions of a folder that holds `captions.txt`, lines of
/// `image,caption` below a header, and the images in `Images/`. The categories
/// of objects are not known.
///
/// # Errors
/// A missing file, and [`RecordError`](crate::RecordError) for a line that has
/// no caption or names an image that is not there.
pub fn flickr8k(folder: &Path) -> Result<Captions, DataError> {
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
    if images.is_empty() {
        return Err(DataError::Empty { path });
    }
    Ok(Captions {
        images,
        categories: Vec::new(),
    })
}
