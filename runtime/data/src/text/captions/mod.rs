//! Readers of datasets of images with captions.

mod caption_set;

use std::path::PathBuf;

use super::topics::{Groups, Topics};

pub(crate) use caption_set::{COLUMNS, Part};
pub use caption_set::{CaptionSet, FORM, REFERENCES};

/// An image and its captions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captioned {
    /// The image's file.
    pub image: PathBuf,
    /// The captions in the order of the file. There is at least one.
    pub captions: Vec<String>,
    /// The categories of the objects in the image as indices of [`Captions::categories`], ascending, each
    /// once. Empty if they are not known.
    pub objects: Vec<u16>,
}

/// Images with captions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captions {
    /// The images.
    pub images: Vec<Captioned>,
    /// The names of the categories of objects. Empty if they are not known.
    pub categories: Vec<String>,
}

impl Captions {
    /// Keeps the images that show objects of exactly one category, grouped by it: the non-IID captions of
    /// FedAA.
    pub fn by_object(mut self) -> (Self, Groups) {
        self.images.retain(|image| image.objects.len() == 1);
        let of = self.images.iter().map(|image| image.objects[0]).collect();
        let names = self.categories.clone();
        (self, Groups { names, of })
    }

    /// All images, grouped by the words of their captions.
    ///
    /// Departs: FedAA groups by object, which is not known from captions alone.
    pub fn by_topic(&self, topics: Topics) -> Groups {
        let all = |image: &Captioned| image.captions.join(" ");
        let texts: Vec<_> = self.images.iter().map(all).collect();
        topics.group(&texts)
    }
}
