//! Whether the parts of a dataset that a program made fit together.

use super::{ColumnError, Dataset, Examples};

impl Dataset {
    /// Checks what training and evaluation rely on: there are classes, every label is one of them, training and
    /// test examples have the same columns, and if there are groups, each example has one with a name. Readers of
    /// files check more, each in its own words.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), ColumnError> {
        if self.class_names.len() != self.classes || self.classes == 0 {
            return Err(ColumnError::Classes {
                classes: self.classes,
                names: self.class_names.len(),
            });
        }
        let columns = |examples: &Examples| -> Vec<String> {
            let columns = examples.columns().iter();
            columns
                .map(|c| format!("`{}`, {} of shape {:?}", c.name(), c.element(), c.shape()))
                .collect()
        };
        let (train, test) = (columns(&self.train), columns(&self.test));
        if let Some(i) = (0..train.len().max(test.len())).find(|&i| train.get(i) != test.get(i)) {
            let at = |columns: &[String]| {
                let column = columns.get(i).cloned();
                column.unwrap_or_else(|| "no further column".to_owned())
            };
            return Err(ColumnError::TestColumns {
                expected: at(&train),
                found: at(&test),
            });
        }
        self.check_labels("training", &self.train)?;
        self.check_labels("test", &self.test)?;
        self.check_groups()
    }

    /// Whether each example has one of the groups, where there are any.
    pub(super) fn check_groups(&self) -> Result<(), ColumnError> {
        let names = self.group_names.len();
        for (split, groups, examples) in [
            ("training", &self.groups, self.train.len()),
            ("test", &self.test_groups, self.test.len()),
        ] {
            let Some(groups) = groups else { continue };
            let named = groups.iter().all(|&group| (group as usize) < names);
            if groups.len() != examples || !named {
                return Err(ColumnError::Groups {
                    split,
                    examples,
                    found: groups.len(),
                    names,
                });
            }
        }
        Ok(())
    }

    /// Checks that the labels of some examples are classes of the dataset.
    ///
    /// # Errors
    /// [`ColumnError::Label`] of the first that is none. `split` says which examples these are, such as `public`.
    pub fn check_labels(
        &self,
        split: &'static str,
        examples: &Examples,
    ) -> Result<(), ColumnError> {
        let mut labels = examples.labels().iter().enumerate();
        let wrong = labels.find(|(_, label)| usize::from(**label) >= self.classes);
        match wrong {
            None => Ok(()),
            Some((index, &label)) => Err(ColumnError::Label {
                split,
                index,
                label,
                classes: self.classes,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    fn examples(features: usize, labels: &[u16]) -> Examples {
        let numbers = vec![0.5; features * labels.len()];
        let x = Column::floats("x", [features], numbers).unwrap();
        Examples::of_columns(vec![x], labels).unwrap()
    }

    fn error(train: Examples, test: Examples, classes: &[&str]) -> String {
        let data = Dataset::new("rows", train, test, classes.iter().copied());
        data.check().unwrap_err().to_string()
    }

    #[test]
    fn parts_that_do_not_fit_are_named() {
        let good = examples(2, &[0, 1, 1]);
        let data = Dataset::new("rows", good.clone(), good.clone(), ["a", "b"]);
        data.check().unwrap();
        // Nothing to test on is no mistake.
        let untested = Dataset::new("rows", good.clone(), examples(2, &[]), ["a", "b"]);
        untested.check().unwrap();

        let text = error(examples(2, &[0, 2]), good.clone(), &["a", "b"]);
        assert_eq!(
            text,
            "training example 1 has the label 2; expected one of the 2 classes, 0 to 1"
        );
        let text = error(good.clone(), examples(2, &[5]), &["a", "b"]);
        assert!(text.starts_with("test example 0 has the label 5"), "{text}");
        let text = error(good.clone(), examples(3, &[0]), &["a", "b"]);
        assert!(text.contains("numbers of shape [2]"), "{text}");
        assert!(text.contains("numbers of shape [3]"), "{text}");
        let words = Column::ids("words", [1], vec![0, 1]).unwrap();
        let x = Column::floats("x", [2], vec![0.5; 4]).unwrap();
        let with_words = Examples::of_columns(vec![x, words], [0, 1]).unwrap();
        let text = error(with_words, examples(2, &[0]), &["a", "b"]);
        assert!(
            text.contains("`words`") && text.contains("no further column"),
            "{text}"
        );
        assert!(error(good.clone(), good, &[]).contains("0 classes"));
    }
}
