//! Datasets: named columns of examples, their labels and their groups.

mod check;
mod column;
mod digest;
mod element;
mod error;
mod examples;
mod input_encoding;
mod scale;
mod store;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::own::{NumberScale, TableEncoder};
use crate::text::Language;

pub use column::Column;
pub use digest::DataDigest;
pub use element::Element;
pub use error::ColumnError;
pub use examples::Examples;
pub(crate) use examples::{image_shape, input_shape};
pub use input_encoding::{InputEncoding, InputValues};
pub use scale::Scale;

/// A dataset: training and test examples of the same columns.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name that it is loaded by, such as `mnist`.
    pub name: String,
    /// The examples that are dealt to clients.
    pub train: Examples,
    /// The examples that the server evaluates on.
    pub test: Examples,
    /// The number of classes; labels are `0..classes`.
    pub classes: usize,
    /// The name of each class, `classes` of them.
    pub class_names: Vec<String>,
    /// The origin of each training example, an index into `group_names`: for instance its domain, its
    /// writer, or the kind of object in it. `None` if the dataset does not say.
    pub groups: Option<Arc<[u32]>>,
    /// The same for the test examples.
    pub test_groups: Option<Arc<[u32]>>,
    /// The name of each group. Empty without groups.
    pub group_names: Vec<String>,
    /// The vocabulary and the people's texts, for datasets with text.
    pub language: Option<Language>,
    /// How rows became inputs, for tables.
    pub table: Option<Arc<TableEncoder>>,
    /// How numbers were scaled, for arrays and rows of numbers.
    pub numbers: Option<NumberScale>,
    /// Remarks about the files, such as missing parts or contents that differ from the published ones.
    pub notes: Vec<String>,
}

impl Dataset {
    /// A dataset in memory, without groups, with a class for each of `class_names`. Label `i` is the class of
    /// the name at place `i`. [`check`](Self::check) says whether the parts fit together; an experiment calls it.
    ///
    /// ```
    /// use fedround_data::{Column, Dataset, Examples};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // Rows of two numbers, one after another, and a label for each row.
    /// let x = Column::floats("x", [2], vec![0.1, 0.9, 0.8, 0.2, 0.7, 0.3])?;
    /// let train = Examples::of_columns(vec![x], vec![0_u16, 1, 1])?;
    /// let x = Column::floats("x", [2], vec![0.2, 0.8])?;
    /// let test = Examples::of_columns(vec![x], vec![0_u16])?;
    /// let data = Dataset::new("points", train, test, ["left", "right"]);
    /// // Of whom each example is; the partition `natural` makes a client of each.
    /// let data = data.with_groups([0_u32, 1, 1], [0_u32], ["ann", "ben"])?;
    /// assert_eq!(data.clients(), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        name: impl Into<String>,
        train: Examples,
        test: Examples,
        class_names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let class_names: Vec<String> = class_names.into_iter().map(Into::into).collect();
        Self {
            name: name.into(),
            train,
            test,
            classes: class_names.len(),
            class_names,
            groups: None,
            test_groups: None,
            group_names: vec![],
            language: None,
            table: None,
            numbers: None,
            notes: vec![],
        }
    }

    /// The number of groups with training examples, which are the clients of the partition `natural`. `None`
    /// without groups.
    pub fn clients(&self) -> Option<usize> {
        let groups: BTreeSet<u32> = self.groups.as_ref()?.iter().copied().collect();
        Some(groups.len())
    }

    /// Adds the groups of the training and of the test examples.
    ///
    /// # Errors
    /// [`ColumnError::Groups`] if there is not one group for each example, or a group has no name.
    pub fn with_groups(
        mut self,
        train: impl Into<Arc<[u32]>>,
        test: impl Into<Arc<[u32]>>,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, ColumnError> {
        self.group_names = names.into_iter().map(Into::into).collect();
        (self.groups, self.test_groups) = (Some(train.into()), Some(test.into()));
        self.check_groups()?;
        Ok(self)
    }
}
