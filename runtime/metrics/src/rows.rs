//! Matrices of numbers, as slices with a row width.

use crate::MetricError;

/// Rows of finite numbers, `[len, width]`: logits, features or labels of examples.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [f32],
    width: usize,
}

impl<'a> Rows<'a> {
    /// Rows of `width` numbers, one after another.
    ///
    /// # Errors
    /// `width` is 0 or does not divide the number of values, or a value is not finite.
    pub fn new(values: &'a [f32], width: usize) -> Result<Self, MetricError> {
        if width == 0 || !values.len().is_multiple_of(width) {
            let values = values.len();
            return Err(MetricError::Width { values, width });
        }
        MetricError::finite(values.iter().map(|&v| f64::from(v)))?;
        Ok(Self { values, width })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of values in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [f32]> + Clone {
        self.values.chunks_exact(self.width)
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [f32] {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_must_be_full_and_finite() {
        let rows = Rows::new(&[1.0, 2.0, 3.0, 4.0], 2).unwrap();
        assert_eq!(rows.iter().collect::<Vec<_>>(), [[1.0, 2.0], [3.0, 4.0]]);
        for width in [0, 3] {
            assert_eq!(
                Rows::new(&[0.0; 4], width).unwrap_err().to_string(),
                format!(
                    "4 numbers are not rows of {width}; the width must be at least 1 and divide them"
                )
            );
        }
        assert_eq!(
            Rows::new(&[0.0, f32::NAN], 1).unwrap_err().to_string(),
            "number 1 is NaN, expected finite numbers; has the model diverged?"
        );
    }
}
