//! The kinds of messages, by what they ask for.

use std::fmt;

use thiserror::Error;

/// The type of a message: `train`, `evaluate` or `query`, or one of them with a name, such as
/// `query.control_variate`. Flower's clients serve no others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageKind(String);

/// A text that is no type of a message.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{found:?} is no type of a Flower message: expected train, evaluate or query, alone or followed by a dot and a name of letters, digits and underscores"
)]
pub struct MessageKindError {
    /// The text.
    pub found: String,
}

impl MessageKind {
    /// Reads a type.
    ///
    /// # Errors
    ///
    /// [`MessageKindError`] for a type that Flower's clients refuse.
    pub fn new(text: impl Into<String>) -> Result<Self, MessageKindError> {
        let text = text.into();
        let (category, action) = match text.split_once('.') {
            Some((category, action)) => (category, Some(action)),
            None => (text.as_str(), None),
        };
        let known = matches!(category, "train" | "evaluate" | "query");
        if known && action.is_none_or(is_identifier) {
            Ok(Self(text))
        } else {
            Err(MessageKindError { found: text })
        }
    }

    /// The text, such as `train`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An identifier of Python, of ASCII letters.
fn is_identifier(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_flower() {
        for text in ["train", "evaluate", "query", "train.fed_prox", "query._1"] {
            assert_eq!(MessageKind::new(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "fit",
            "train.",
            "query.1",
            "query.a.b",
            "query.a b",
            "Train",
        ] {
            assert!(MessageKind::new(text).is_err(), "{text}");
        }
    }
}
