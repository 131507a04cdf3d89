//! The first line of a text: its dialect and version.

use super::{ParseError, Problem, Span};

/// The latest version of the fed dialect's text.
pub const FED_VERSION: u32 = 1;
/// The latest version of the tensor dialect's text.
pub const TENSOR_VERSION: u32 = 1;

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

pub(super) fn header_error(text: &str, expected: &str) -> ParseError {
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
