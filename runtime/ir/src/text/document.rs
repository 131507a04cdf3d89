//! A text of either dialect.

use super::ParseError;
use super::header::header_error;
use crate::fed::{self, Module};
use crate::tensor::{self, Graph};

/// What a text holds.
#[derive(Clone, Debug)]
pub enum Document {
    /// A fed module.
    Fed(Module),
    /// Tensor graphs with their names.
    Tensor(Vec<(String, Graph)>),
}

/// Reads a text of either dialect and verifies it.
///
/// # Errors
///
/// The first thing that is wrong with it.
pub fn parse(text: &str) -> Result<Document, ParseError> {
    if text.trim_start().starts_with("// fedround fed ") {
        return fed::parse(text).map(Document::Fed);
    }
    if text.trim_start().starts_with("// fedround tensor ") {
        return tensor::parse(text).map(Document::Tensor);
    }
    Err(header_error(
        text,
        "`// fedround fed v1` or `// fedround tensor v1` on the first line",
    ))
}
