//! The text of a dataset: its vocabulary and what people said.

use std::sync::Arc;

use super::vocabulary::Vocabulary;

/// The vocabulary of captions or questions, and what people said.
#[derive(Clone, Debug)]
pub struct Language {
    /// The words of the training examples.
    pub vocabulary: Arc<Vocabulary>,
    /// For each test example, all captions of its image, or the people's answers.
    pub human: Arc<[Vec<String>]>,
    /// The number of test questions that are left out because no class is their answer.
    pub left_out: usize,
}
