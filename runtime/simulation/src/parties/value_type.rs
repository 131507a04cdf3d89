//! The type of a value in a message, beyond its kind.

use fedround_store::TensorBytes;

use super::error::ContentError;

/// The type of a value. The default allows all values of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValueType {
    /// The shape of a row of features or labels, which have at least one row. `None` allows any shape.
    pub row: Option<Vec<usize>>,
    /// The index of an earlier output with equally many rows; `None` if there is none.
    pub as_many_rows_as: Option<usize>,
    /// The number of classes: labels are from 0 to below it. `None` allows any label.
    pub classes: Option<usize>,
    /// The allowed range of a number.
    pub number: NumberRange,
}

/// The allowed range of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum NumberRange {
    /// Any number.
    #[default]
    Any,
    /// A number in the range of single precision, so that sums of such numbers are finite. NaN and infinities are
    /// allowed: they come from clients that diverged, which the coordinator handles elsewhere.
    Single,
    /// A number of examples that is a weight in a mean over clients: at least 0 and at most [`MOST_WEIGHT`].
    Weight,
}

/// The largest number of examples that a party may report as a weight, 2⁵³: up to here double precision represents
/// every integer.
const MOST_WEIGHT: f64 = 9_007_199_254_740_992.0;

impl ValueType {
    /// Checks a number.
    pub fn check_number(&self, name: &str, x: f64) -> Result<(), ContentError> {
        let single = f64::from(f32::MAX);
        let (fits, expected) = match self.number {
            NumberRange::Any => return Ok(()),
            NumberRange::Single => {
                let fits = !x.is_finite() || x.abs() <= single;
                (fits, format!("a number of at most {single:e}"))
            }
            NumberRange::Weight => {
                let fits = (0.0..=MOST_WEIGHT).contains(&x);
                (fits, format!("a weight from 0 to {MOST_WEIGHT:e}"))
            }
        };
        match fits {
            true => Ok(()),
            false => Err(ContentError::Value {
                name: name.to_owned(),
                expected,
                found: format!("{x:e}"),
            }),
        }
    }

    /// Checks a tensor.
    pub fn check_tensor(&self, name: &str, tensor: &TensorBytes) -> Result<(), ContentError> {
        if let Some(row) = &self.row {
            let fits = match tensor.shape.split_first() {
                Some((rows, found)) => *rows > 0 && found == row.as_slice(),
                None => false,
            };
            if !fits {
                return Err(ContentError::Shape {
                    name: name.to_owned(),
                    expected: format!("one row or more of shape {row:?}"),
                    found: format!("the shape {:?}", tensor.shape),
                });
            }
        }
        if let (Some(classes), Some(labels)) = (self.classes, tensor.ints()) {
            let is_class = |label: &i32| usize::try_from(*label).is_ok_and(|label| label < classes);
            if let Some(found) = labels.into_iter().find(|label| !is_class(label)) {
                return Err(ContentError::Value {
                    name: name.to_owned(),
                    expected: format!("labels of {classes} classes, which count from 0"),
                    found: found.to_string(),
                });
            }
        }
        let number = match self.number {
            NumberRange::Any => None,
            NumberRange::Single | NumberRange::Weight => tensor.floats(),
        };
        match number.as_deref() {
            Some([number]) => self.check_number(name, f64::from(*number)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_by_their_use() {
        let text = |number, x| {
            let ty = ValueType {
                number,
                ..ValueType::default()
            };
            let checked = ty.check_number("f32_1", x);
            checked.err().map(|error| error.to_string())
        };
        for x in [f64::NAN, f64::NEG_INFINITY, 1e308] {
            assert_eq!(text(NumberRange::Any, x), None);
        }
        for x in [f64::NAN, f64::INFINITY, -3e38, 0.0] {
            assert_eq!(text(NumberRange::Single, x), None);
        }
        assert!(text(NumberRange::Single, -4e38).is_some());
        for x in [0.0, 1e-30, 600.0, MOST_WEIGHT] {
            assert_eq!(text(NumberRange::Weight, x), None);
        }
        for x in [f64::NAN, f64::INFINITY, -1e-9, 1e308] {
            assert!(text(NumberRange::Weight, x).is_some(), "{x}");
        }
        let expected = "`f32_1`: expected a weight from 0 to 9.007199254740992e15, found -1e0";
        assert_eq!(text(NumberRange::Weight, -1.0).as_deref(), Some(expected));
    }

    #[test]
    fn rows_and_labels_are_checked() {
        let ty = ValueType {
            row: Some(vec![]),
            classes: Some(3),
            ..ValueType::default()
        };
        let labels = |values: &[i32], shape: &[usize]| {
            let tensor = TensorBytes::of_ints(values, shape);
            let checked = ty.check_tensor("labels1", &tensor);
            checked.err().map(|error| error.to_string())
        };
        assert_eq!(labels(&[0, 2], &[2]), None);
        for (values, shape, expected) in [
            (
                &[0, 3][..],
                &[2][..],
                "3 classes, which count from 0, found 3",
            ),
            (&[-1], &[1], "found -1"),
            (&[1], &[], "one row or more of shape [], found the shape []"),
            (&[], &[0], "found the shape [0]"),
            (&[1, 1], &[1, 2], "found the shape [1, 2]"),
        ] {
            let text = labels(values, shape).unwrap_or_default();
            assert!(text.contains(expected), "{text}");
        }
    }
}
