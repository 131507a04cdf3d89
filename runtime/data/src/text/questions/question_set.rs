//! Examples of questions about images.

use std::collections::HashMap;
use std::sync::Arc;

use super::Questions;
use super::answers::Answers;
use crate::text::form::Form;
use crate::text::language::Language;
use crate::text::vocabulary::Vocabulary;
use crate::{DataError, Dataset, Examples, Fit};

/// Questions about images as examples.
///
/// | column | shape | contents |
/// |---|---|---|
/// | `x` | `[3, height, width]` | the image |
/// | `tokens` | `[T]` | the [question](Vocabulary::question) |
/// | `length` | `[]` | the number of its ids that are not padding |
///
/// Labels are answers. Groups are the dataset's kinds of questions, if it has any. Images are decoded when
/// they are gathered, and the questions about an image share it.
#[derive(Clone, Debug)]
pub struct QuestionSet {
    /// Training and test examples. The classes are the answers.
    pub dataset: Dataset,
    /// The words of the training questions.
    pub vocabulary: Vocabulary,
    /// The people's answers to each test question.
    pub human: Vec<Vec<String>>,
    /// The numbers of training and test questions that are left out because no class is their answer. They
    /// count as wrong where a paper's accuracy is over all questions.
    pub left_out: [usize; 2],
}

/// The form of the question datasets: 64 x 64 pixels in colour, 20 ids, words that occur twice.
pub const FORM: Form = Form {
    image: [3, 64, 64],
    fit: Fit::Stretch,
    length: 20,
    min_count: 2,
};

/// The columns besides `x`.
pub(crate) const COLUMNS: &[(&str, &[usize])] = &[("tokens", &[FORM.length]), ("length", &[])];

impl QuestionSet {
    /// A set of questions whose answers are among `answers`.
    ///
    /// # Errors
    /// A split has no question with such an answer, or images cannot be brought to the form.
    pub fn new(
        name: &str,
        train: &Questions,
        test: &Questions,
        answers: &Answers,
        form: Form,
    ) -> Result<Self, DataError> {
        let [answered, answered_test] = [train, test].map(|split| split.answered(answers));
        let left_out = [
            train.questions.len() - answered.len(),
            test.questions.len() - answered_test.len(),
        ];
        for (split, answered) in [(train, &answered), (test, &answered_test)] {
            DataError::empty_if(answered.is_empty(), &split.file)?;
        }
        let texts = answered.iter().map(|&(i, _)| &*train.questions[i].text);
        let vocabulary = Vocabulary::new(texts, form.min_count);
        let dataset = Dataset::new(
            name,
            train.examples(&answered, &vocabulary, form)?,
            test.examples(&answered_test, &vocabulary, form)?,
            answers.names(),
        );
        let human = answered_test
            .iter()
            .map(|&(i, _)| test.questions[i].answers.clone());
        let human = human.collect();
        let (names, of) = kinds([(train, &answered), (test, &answered_test)]);
        let [train_of, test_of] = of;
        let dataset = match names.is_empty() {
            true => dataset,
            false => dataset.with_groups(train_of, test_of, names)?,
        };
        Ok(Self {
            dataset,
            vocabulary,
            human,
            left_out,
        })
    }

    /// The dataset with its language, and with notes on the questions that are left out. If several
    /// `people` answered each question, their answers are the language's. Otherwise the only answer is
    /// the class.
    pub(crate) fn into_dataset(self, people: bool) -> Dataset {
        let mut dataset = self.dataset;
        let splits = [("training", &dataset.train), ("test", &dataset.test)];
        for ((split, examples), left_out) in splits.into_iter().zip(self.left_out) {
            if left_out > 0 {
                let (all, classes) = (examples.len() + left_out, dataset.classes);
                dataset.notes.push(format!(
                    "{left_out} of {all} {split} questions have none of the {classes} answers and are left out"
                ));
            }
        }
        let class = |label: &u16| vec![dataset.class_names[usize::from(*label)].clone()];
        let human = match people {
            true => self.human.into(),
            false => dataset.test.labels().iter().map(class).collect(),
        };
        dataset.language = Some(Language {
            vocabulary: Arc::new(self.vocabulary),
            human,
            left_out: self.left_out[1],
        });
        dataset
    }
}

/// Questions by their index, and the class of their answer.
type Answered = Vec<(usize, u16)>;

impl Questions {
    fn answered(&self, answers: &Answers) -> Answered {
        let labels = self.questions.iter().map(|q| answers.label(q)).enumerate();
        labels.filter_map(|(i, label)| Some((i, label?))).collect()
    }

    fn examples(
        &self,
        answered: &Answered,
        vocabulary: &Vocabulary,
        form: Form,
    ) -> Result<Examples, DataError> {
        let asked = || answered.iter().map(|&(i, _)| &self.questions[i]);
        let rows: Vec<usize> = asked().map(|q| q.image).collect();
        let write = |text: &str, n: usize, ids: &mut Vec<i32>| vocabulary.question(text, n, ids);
        let [tokens, length] = form.tokens(asked().map(|q| &*q.text), write)?;
        let columns = vec![form.images(self.images.clone(), &rows)?, tokens, length];
        let labels: Vec<u16> = answered.iter().map(|&(_, label)| label).collect();
        Ok(Examples::of_columns(columns, labels)?)
    }
}

/// The names of the kinds of both splits, and the kind of each question.
fn kinds(splits: [(&Questions, &Answered); 2]) -> (Vec<String>, [Vec<u32>; 2]) {
    let mut names: Vec<String> = splits.iter().flat_map(|(q, _)| q.kinds.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let index: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let of = splits.map(|(split, answered)| {
        let kind = |&(i, _): &(usize, u16)| {
            let kind = usize::from(split.questions[i].kind);
            let name = split.kinds.get(kind)?;
            index.get(name.as_str()).copied()
        };
        answered.iter().filter_map(kind).collect()
    });
    (names, of)
}
