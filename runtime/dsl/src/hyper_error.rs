//! Errors of hyper-parameters, and the nearest name.

/// A hyper-parameter that cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HyperError {
    /// No layer has such a field.
    #[error("unknown hyper-parameter `{field}` of {algorithm}{}; it has: {}", did_you_mean(.nearest.as_deref()), .known.join(", "))]
    Unknown {
        /// What was asked for.
        field: String,
        /// The algorithm.
        algorithm: String,
        /// The most similar field.
        nearest: Option<String>,
        /// All fields.
        known: Vec<String>,
    },
    /// A value of another kind.
    #[error("hyper-parameter `{field}`: expected {expected}, found `{found}`")]
    WrongType {
        /// The field.
        field: String,
        /// The kind it has.
        expected: &'static str,
        /// The value given.
        found: String,
    },
    /// A value outside the field's range.
    #[error("hyper-parameter `{field}`: expected {expected}, found {found}")]
    OutOfRange {
        /// The field.
        field: String,
        /// The range in words.
        expected: String,
        /// The value given.
        found: String,
    },
}

/// `; did you mean `x`?`, or nothing.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}
