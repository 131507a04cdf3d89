//! The text form of both dialects: reading it, and what printing shares with it.
//!
//! A text starts with its dialect and version, `// fedround fed v1` or `// fedround tensor v1`.
//! Names, literals and types are exact, so that what is printed reads back as the same program;
//! source locations are not part of it. A program that is read is verified.
//!
//! ```
//! use fedround_ir::text::{Document, parse};
//!
//! let text = "\
//! // fedround tensor v1
//! tensor.graph @square(%x: f32[2]) {
//!   %0 = tensor.mul %x, %x : f32[2]
//!   return y = %0
//! }
//! ";
//! let Document::Tensor(graphs) = parse(text)? else { panic!("another dialect") };
//! assert_eq!(graphs[0].1.nodes.len(), 1);
//!
//! let error = parse(&text.replace("mul", "mull")).unwrap_err();
//! assert!(error.to_string().starts_with("3:8: unknown op `tensor.mull` (did you mean"));
//! # Ok::<(), fedround_ir::text::ParseError>(())
//! ```

pub(crate) mod attribute;
pub(crate) mod cursor;
mod error;
pub(crate) mod lexer;
mod table;

pub use error::{ParseError, Problem};

pub(crate) use error::Span;
pub(crate) use table::ops;

use crate::fed::{self, Module};
use crate::tensor::{self, Graph};

/// The latest version of the fed dialect's text.
pub const FED_VERSION: u32 = 1;
/// The latest version of the tensor dialect's text.
pub const TENSOR_VERSION: u32 = 1;

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

/// The first line of a dialect's text.
pub(crate) fn header(dialect: &str, version: u32) -> String {
    format!("// fedround {dialect} v{version}")
}

/// Checks the first line of a text.
pub(crate) fn check_header(
    text: &str,
    dialect: &'static str,
    newest: u32,
) -> Result<(), ParseError> {
    let expected = || header_error(text, &format!("`{}`", header(dialect, newest)));
    let first = text.trim_start().lines().next().unwrap_or_default();
    let version = first
        .trim_end()
        .strip_prefix(&format!("// fedround {dialect} v"));
    let found: u32 = version
        .and_then(|v| v.parse().ok())
        .filter(|v| *v > 0)
        .ok_or_else(expected)?;
    if found > newest {
        let problem = Problem::Version {
            dialect,
            found,
            newest,
        };
        return Err(ParseError::new(text, first_line(text), problem));
    }
    Ok(())
}

fn first_line(text: &str) -> Span {
    let skipped = text.len() - text.trim_start().len();
    let line = text[..skipped].matches('\n').count();
    let source = text.lines().nth(line).unwrap_or_default();
    let start = source.len() - source.trim_start().len();
    Span::new(line, start, source.trim().len())
}

fn header_error(text: &str, expected: &str) -> ParseError {
    let span = first_line(text);
    let first = text.trim_start().lines().next().unwrap_or_default();
    let found = if first.is_empty() {
        "an empty text".to_owned()
    } else {
        format!("`{}`", first.trim_end())
    };
    let expected = expected.to_owned();
    ParseError::new(text, span, Problem::Expected { expected, found })
}
