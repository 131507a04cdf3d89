//! The classes of question answering: answers.

use std::collections::HashMap;
use std::path::Path;

use super::{Question, Questions};
use crate::DataError;
use crate::formats::record::Records;
use crate::text::vocabulary::by_count;

/// The answers that a model chooses from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    answers: Vec<String>,
    classes: HashMap<String, u16>,
}

impl Answers {
    /// The `most` most frequent answers. A question counts for the answer that most of its people gave.
    /// Answers are in the order of falling counts, and in alphabetical order if counts are equal.
    pub fn most_frequent(questions: &Questions, most: u16) -> Self {
        let asked = questions.questions.iter();
        let own = asked.filter_map(|q| most_given(q.answers.iter().map(String::as_str)));
        let kept = by_count(own).into_iter().take(usize::from(most));
        Self::of(kept.map(|(answer, _)| answer.to_owned()))
    }

    /// The answers of a file, one a line.
    ///
    /// # Errors
    /// The file is missing, a line has a comma, an answer occurs twice, or there are none or more than
    /// 65,535 answers.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let records = Records::open_list(path)?;
        let mut answers = Self::of([]);
        for record in records.rows::<1>(None) {
            let record = record?;
            let answer = record.text(0);
            if answers.class(answer).is_some() || answers.answers.len() >= usize::from(u16::MAX) {
                let expected = "at most 65,535 answers, each once".to_owned();
                return Err(record.wrong(0, "answer", expected).into());
            }
            answers.add(answer.to_owned());
        }
        DataError::empty_if(answers.answers.is_empty(), path)?;
        Ok(answers)
    }

    fn of(all: impl IntoIterator<Item = String>) -> Self {
        let mut answers = Self {
            answers: Vec::new(),
            classes: HashMap::new(),
        };
        all.into_iter().for_each(|answer| answers.add(answer));
        answers
    }

    /// Adds an answer. There must be fewer than 65,535 before.
    fn add(&mut self, answer: String) {
        let class = self.answers.len() as u16;
        self.classes.insert(answer.clone(), class);
        self.answers.push(answer);
    }

    /// The answers in the order of their classes.
    pub fn names(&self) -> &[String] {
        &self.answers
    }

    /// The class of an answer, if it has one.
    pub fn class(&self, answer: &str) -> Option<u16> {
        self.classes.get(answer).copied()
    }

    /// The class that most of a question's people gave, or the first given of equally frequent ones. `None`
    /// if no answer is a class.
    pub fn label(&self, question: &Question) -> Option<u16> {
        let known = question.answers.iter().map(String::as_str);
        let own = most_given(known.filter(|a| self.classes.contains_key(*a)));
        own.and_then(|answer| self.class(answer))
    }
}

/// The most frequent answer, or the first of equally frequent ones.
fn most_given<'a>(answers: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let count = |answer: &str| answers.clone().filter(|a| *a == answer).count();
    let best = |best: (usize, &'a str), next: (usize, &'a str)| {
        if next.0 > best.0 { next } else { best }
    };
    let counted = answers.clone().map(|answer| (count(answer), answer));
    counted.reduce(best).map(|(_, answer)| answer)
}
