//! Words: vocabularies, captions of images, questions about images.
//!
//! * [`words`] and [`Vocabulary`] turn text into the ids that a model reads, and back.
//! * [`captions`] reads Flickr8k and MS COCO and groups images by what they show.
//! * [`questions`] reads VQA v2, DAQUAR and easy-VQA.
//! * [`Topics`] groups texts that nobody has labelled.

pub mod captions;
pub(crate) mod listed;
mod pictures;
pub mod questions;
mod topics;
mod vocabulary;

pub use pictures::Form;
pub use topics::Topics;
pub use vocabulary::{END, PAD, START, UNKNOWN, Vocabulary, words};
