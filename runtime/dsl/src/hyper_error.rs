//! Errors of setting a hyper-parameter.

use fedround_names::did_you_mean;

/// Why a hyper-parameter cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HyperError {
    /// No layer has a field with this name.
    #[error("unknown hyper-parameter `{field}` of {algorithm}{}; it has: {}", did_you_mean(.nearest.as_deref()), .known.join(", "))]
    Unknown {
        /// The name.
        field: String,
        /// The algorithm.
        algorithm: String,
        /// The most similar field.
        nearest: Option<String>,
        /// All fields.
        known: Vec<String>,
    },
    /// The value has the wrong kind.
    #[error("hyper-parameter `{field}`: expected {expected}, found `{found}`")]
    WrongType {
        /// The field.
        field: String,
        /// The kind it has.
        expected: String,
        /// The value given.
        found: String,
    },
    /// The value is outside the field's range.
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
