//! How examples became the inputs of a model: what its user needs beside the weights.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Column, ColumnError, DataDigest, Dataset, Examples, Scale, input_shape};
use crate::DataError;
use crate::own::{NumberScale, TableEncoder};

/// How examples became the inputs of a model, and the names of its classes.
///
/// A model gives the right answers only for inputs that are encoded as those that it was trained on. Mean and
/// standard deviation are measured on the training examples, and so are the columns that a table's texts become;
/// whoever uses the model therefore keeps them with its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputEncoding {
    /// The name of each class, in the order of the model's outputs.
    pub classes: Vec<String>,
    /// The shape of an example, such as channels, height and width of an image.
    pub shape: Vec<usize>,
    /// How the numbers of an example are made.
    pub values: InputValues,
    /// The number of words of the vocabulary, for data with texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// The words by their ids, for data with texts. Whoever uses the model elsewhere needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<Vec<String>>,
    /// Which examples they were, if whoever keeps the encoding wants to recognise them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataDigest>,
}

/// How the numbers of an example are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputValues {
    /// A byte `u` becomes `(u / 255 - mean) / std`, with a mean and a standard deviation for each channel, or one of
    /// both.
    Bytes {
        /// The means.
        mean: Vec<f32>,
        /// The standard deviations.
        std: Vec<f32>,
    },
    /// A number `x` becomes `(x - mean) / std`.
    Numbers(NumberScale),
    /// A row of a table becomes numbers column by column.
    Table(TableEncoder),
    /// Inputs are more than one array of numbers, such as an image and a question.
    Several,
}

impl InputValues {
    /// Whether others are of the same kind.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl InputEncoding {
    /// The encoding of a dataset, without its digest, which takes time.
    pub fn of(data: &Dataset) -> Self {
        let x = data.test.x();
        let values = match (&data.table, x.scale()) {
            _ if data.test.columns().len() > 1 => InputValues::Several,
            (Some(table), _) => InputValues::Table(TableEncoder::clone(table)),
            (None, Some(scale)) => {
                let (mean, std) = scale.mean_and_std();
                InputValues::Bytes { mean, std }
            }
            (None, None) => InputValues::Numbers(data.numbers.clone().unwrap_or_default()),
        };
        Self {
            classes: data.class_names.clone(),
            shape: x.shape().to_vec(),
            values,
            words: data.language.as_ref().map(|of| of.vocabulary.len()),
            vocabulary: data
                .language
                .as_ref()
                .map(|of| of.vocabulary.words().to_vec()),
            data: None,
        }
    }

    /// The scale of bytes, if inputs were bytes.
    pub fn scale(&self) -> Option<Scale> {
        match &self.values {
            InputValues::Bytes { mean, std } => Some(Scale::normalised(mean, std)),
            _ => None,
        }
    }

    /// The number of numbers of an example.
    pub fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// Channels, height and width of a model's input.
    ///
    /// # Errors
    /// As [`Examples::input_shape`].
    pub fn input_shape(&self) -> Result<[usize; 3], DataError> {
        input_shape("x", &self.shape)
    }

    /// What differs first in another encoding, in words, whatever the examples are; `None` if nothing does.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.classes != other.classes {
            let [expected, found] = [self, other].map(|of| of.classes.join(", "));
            return Some(format!("expected the classes {expected}, found {found}"));
        }
        if self.shape != other.shape || !self.values.is_like(&other.values) {
            let [expected, found] = [self, other].map(Self::describe);
            return Some(format!("expected {expected}, found {found}"));
        }
        let same = self.values == other.values && self.words == other.words;
        (!same).then(|| {
            "its numbers are scaled in another way, or its texts have other words".to_owned()
        })
    }

    /// What the inputs are, for messages.
    pub fn describe(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let shape = shape.join("x");
        match &self.values {
            InputValues::Bytes { .. } => format!("bytes of shape {shape}"),
            InputValues::Numbers(_) => format!("numbers of shape {shape}"),
            InputValues::Table(_) => format!("rows of a table, which become {shape} numbers"),
            InputValues::Several => format!("inputs of shape {shape} and other columns"),
        }
    }

    /// Examples of zeros, `count` for training and as many for testing, with each class in turn. A model is
    /// compiled for them where the examples themselves are not at hand.
    ///
    /// # Errors
    /// The shape is empty.
    pub fn placeholder(&self, count: usize) -> Result<Dataset, ColumnError> {
        let label = |i: usize| (i % self.classes.len().max(1)) as u16;
        let labels: Vec<u16> = (0..count).map(label).collect();
        let x = Column::floats("x", self.shape.clone(), vec![0.0; count * self.features()])?;
        let examples = Examples::of_columns(vec![x], labels)?;
        let names = self.classes.clone();
        Ok(Dataset::new(
            "placeholder",
            examples.clone(),
            examples,
            names,
        ))
    }
}

impl Dataset {
    /// The same examples with the classes of a model, in the model's order.
    ///
    /// # Errors
    /// [`DataError::OtherClass`] if there are examples of a class that the model does not know.
    pub fn with_classes(mut self, classes: &[String]) -> Result<Self, DataError> {
        if self.class_names == classes {
            return Ok(self);
        }
        let place = |name: &String| classes.iter().position(|known| known == name);
        let places: Vec<Option<usize>> = self.class_names.iter().map(place).collect();
        for examples in [&mut self.train, &mut self.test] {
            let labels = examples.labels().iter().map(|&label| {
                let label = usize::from(label);
                match places.get(label).copied().flatten() {
                    Some(place) => Ok(place as u16),
                    None => Err(DataError::OtherClass {
                        data: self.name.clone(),
                        class: self.class_names.get(label).cloned().unwrap_or_default(),
                        known: classes.to_vec(),
                    }),
                }
            });
            let labels: Arc<[u16]> = labels.collect::<Result<_, _>>()?;
            *examples = Examples::of_columns(examples.columns().to_vec(), labels)?;
        }
        self.classes = classes.len();
        self.class_names = classes.to_vec();
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(names: [&str; 2]) -> Dataset {
        let scale = Scale::normalised(&[0.5], &[0.25]);
        let examples = Examples::new([1, 1, 2], vec![0; 6], vec![0, 1, 1], scale).unwrap();
        Dataset::new("d", examples.clone(), examples, names)
    }

    #[test]
    fn an_encoding_survives_as_text() {
        let encoding = InputEncoding::of(&data(["a", "b"]));
        let text = serde_json::to_string(&encoding).unwrap();
        assert_eq!(
            serde_json::from_str::<InputEncoding>(&text).unwrap(),
            encoding
        );
        assert_eq!(encoding.scale(), Some(Scale::normalised(&[0.5], &[0.25])));
        let zeros = encoding.placeholder(3).unwrap();
        assert_eq!(zeros.test.labels(), [0, 1, 0]);
        assert_eq!(zeros.test.shape(), [1, 1, 2]);
    }

    #[test]
    fn bytes_become_the_same_numbers_under_every_name_of_a_scale() {
        let bytes: Vec<u8> = (0..=255).collect();
        for scale in [Scale::Unit, Scale::Centred] {
            let (mean, std) = scale.mean_and_std();
            let [mut expected, mut found] = [[0.0; 256]; 2];
            scale.apply(&bytes, &mut expected);
            Scale::normalised(&mean, &std).apply(&bytes, &mut found);
            assert_eq!(expected, found);
        }
    }

    #[test]
    fn labels_follow_the_names_of_classes() {
        let classes = ["b", "c", "a"].map(str::to_owned);
        let found = data(["a", "b"]).with_classes(&classes).unwrap();
        assert_eq!(found.test.labels(), [2, 0, 0]);
        assert_eq!((found.classes, &found.class_names[..]), (3, &classes[..]));
        let error = data(["a", "z"]).with_classes(&classes).unwrap_err();
        assert!(error.to_string().contains("`z`"), "{error}");
    }
}
