//! Text: vocabularies, captions of images and questions about images.
//!
//! * [`words`] and [`Vocabulary`] turn text into the token ids that a model reads, and back.
//! * [`captions`] and [`questions`] turn images with text into examples.
//! * [`Topics`] groups texts that nobody has labelled.

pub mod captions;
mod form;
mod language;
pub mod questions;
mod topics;
mod vocabulary;

pub use form::Form;
pub(crate) use form::NOMINAL_WORDS;
pub use language::Language;
pub use topics::Topics;
pub use vocabulary::{END, PAD, START, UNKNOWN, Vocabulary, words};
