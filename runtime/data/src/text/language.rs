//! The text of a dataset: its vocabulary and what people said.

use std::sync::Arc;

use super::vocabulary::Vocabulary;

/// The words of captions or questions, and what people said.
#[derive(Clone, Debug)]
pub struct Language {
    /// The ids of the words of the training examples.
    pub vocabulary: Arc<Vocabulary>,
    /// For each test example, all captions of its image, or what people answered.
    pub human: Arc<[Vec<String>]>,
    /// Test questions that are left out, as none of the classes answers them.
    pub left_out: usize,
}
