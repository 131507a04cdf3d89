//! The encoding of people as numbers.

use super::PROTECTED;
use super::person::{CATEGORIES, NUMBERS, Person};
use crate::{Column, DataError, Examples};

/// Training and test people as numbers, and the names of the numbers.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// The name of each input: a number's, or `category=value`.
    pub inputs: Vec<String>,
    /// The people to train on.
    pub train: Table,
    /// The people to test on.
    pub test: Table,
}

/// People as numbers.
#[derive(Clone, Debug)]
pub struct Table {
    /// `[people, inputs]`. Each input has mean 0 and, unless it is constant, variance 1 over the training
    /// people.
    pub x: Vec<f32>,
    /// `[people, 2]`: 1 for White and for Male, else 0.
    pub protected: Vec<f32>,
    /// The class of each person, an index of [`CLASSES`](super::CLASSES).
    pub labels: Vec<u16>,
}

/// One input.
#[derive(Clone, Copy)]
enum Input {
    Number(usize),
    /// Whether a category has a value.
    Is(usize, u8),
}

impl Input {
    fn of(self, person: &Person) -> f64 {
        match self {
            Self::Number(i) => f64::from(person.numbers[i]),
            Self::Is(category, value) => f64::from(u8::from(person.categories[category] == value)),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Number(i) => NUMBERS[i].to_owned(),
            Self::Is(category, value) => {
                let (name, values) = CATEGORIES[category];
                format!("{name}={}", values[usize::from(value)])
            }
        }
    }
}

impl Encoding {
    /// Encodes people with the inputs that occur in both tables, standardised by `train`.
    pub fn new(train: &[Person], test: &[Person]) -> Self {
        let inputs = inputs(train, test);
        let scales: Vec<_> = inputs.iter().map(|&input| scale(train, input)).collect();
        Self {
            inputs: inputs.iter().map(|input| input.name()).collect(),
            train: Table::new(train, &inputs, &scales),
            test: Table::new(test, &inputs, &scales),
        }
    }
}

/// The numbers, then the values of each category that occur, without the first of them.
fn inputs(train: &[Person], test: &[Person]) -> Vec<Input> {
    let numbers = (0..NUMBERS.len()).map(Input::Number);
    let values = CATEGORIES.iter().enumerate().flat_map(|(c, (_, values))| {
        let mut occurs = vec![false; values.len()];
        for person in train.iter().chain(test) {
            occurs[usize::from(person.categories[c])] = true;
        }
        let present = (0..)
            .zip(occurs)
            .filter_map(|(v, occurs)| occurs.then_some(v));
        present
            .skip(1)
            .map(move |v| Input::Is(c, v))
            .collect::<Vec<_>>()
    });
    numbers.chain(values).collect()
}

/// The mean and the standard deviation of an input. The deviation of a constant counts as 1.
fn scale(people: &[Person], input: Input) -> (f64, f64) {
    let n = people.len() as f64;
    let mean = people.iter().map(|p| input.of(p)).sum::<f64>() / n;
    let square = |p| (input.of(p) - mean).powi(2);
    let deviation = (people.iter().map(square).sum::<f64>() / n).sqrt();
    (mean, if deviation > 0.0 { deviation } else { 1.0 })
}

impl Table {
    fn new(people: &[Person], inputs: &[Input], scales: &[(f64, f64)]) -> Self {
        let row = |p| {
            let standard = move |(input, (mean, deviation)): (&Input, &(f64, f64))| {
                ((input.of(p) - mean) / deviation) as f32
            };
            inputs.iter().zip(scales).map(standard)
        };
        let protected = |p: &Person| [p.white, p.male].map(|b| f32::from(u8::from(b)));
        Self {
            x: people.iter().flat_map(row).collect(),
            protected: people.iter().flat_map(protected).collect(),
            labels: people.iter().map(|p| u16::from(p.rich)).collect(),
        }
    }
    /// The people as examples with columns `x` and `protected`.
    pub(super) fn examples(self) -> Result<Examples, DataError> {
        let inputs = self.x.len() / self.labels.len().max(1);
        let columns = vec![
            Column::floats("x", [inputs], self.x)?,
            Column::floats(super::PROTECTED_COLUMN, [PROTECTED.len()], self.protected)?,
        ];
        Ok(Examples::of_columns(columns, self.labels)?)
    }
}
