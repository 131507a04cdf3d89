//! Errors of metrics on their inputs.

/// Why a metric has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// There is too little to measure.
    #[error("expected at least {expected} {what}, found {found}")]
    TooFew {
        /// What there is too little of.
        what: &'static str,
        /// The smallest valid number.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// Two inputs that belong together differ in length.
    #[error("expected as many {what} as {other} ({expected}), found {found}")]
    Lengths {
        /// What has the wrong length.
        what: &'static str,
        /// What it should be as long as.
        other: &'static str,
        /// The length it should have.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// Numbers do not form whole rows.
    #[error(
        "{values} numbers are not rows of {width}; the width must be at least 1 and divide them"
    )]
    Width {
        /// The number of numbers.
        values: usize,
        /// The width of a row.
        width: usize,
    },
    /// A label or a prediction is not one of the classes.
    #[error("class {class} of example {index} is out of range, expected 0 to {}", classes.saturating_sub(1))]
    Class {
        /// The example.
        index: usize,
        /// Its class.
        class: u16,
        /// The number of classes.
        classes: usize,
    },
    /// A number is NaN or infinite.
    #[error("number {index} is {value}, expected finite numbers; has the model diverged?")]
    NotFinite {
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A parameter is out of its range.
    #[error("{what} is {value}, expected {expected}")]
    Setting {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Its valid range.
        expected: &'static str,
    },
    /// Eigenvalues did not converge.
    #[error("the eigenvalues of a {size}x{size} covariance did not converge; rescale the features")]
    Eigenvalues {
        /// The number of rows.
        size: usize,
    },
}

impl MetricError {
    /// Fails unless there are at least `expected`.
    pub(crate) fn too_few(what: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if found < expected {
            return Err(Self::TooFew {
                what,
                expected,
                found,
            });
        }
        Ok(())
    }

    /// Fails unless both have the same length.
    pub(crate) fn lengths(
        (what, found): (&'static str, usize),
        (other, expected): (&'static str, usize),
    ) -> Result<(), Self> {
        if found != expected {
            return Err(Self::Lengths {
                what,
                other,
                expected,
                found,
            });
        }
        Ok(())
    }

    /// Fails at the first number that is not finite.
    pub(crate) fn finite(values: impl IntoIterator<Item = f64>) -> Result<(), Self> {
        let bad = values.into_iter().enumerate().find(|(_, v)| !v.is_finite());
        bad.map_or(Ok(()), |(index, value)| {
            Err(Self::NotFinite { index, value })
        })
    }
}
