//! Errors in texts, with their positions.

use std::fmt;

use fedround_names::did_you_mean;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Line, from 0.
    line: usize,
    /// First byte in the line.
    start: usize,
    /// Number of bytes.
    len: usize,
}

impl Span {
    pub fn new(line: usize, start: usize, len: usize) -> Self {
        Self { line, start, len }
    }

    /// Just behind the last line's last character.
    pub fn end(text: &str) -> Self {
        let line = text.lines().count().saturating_sub(1);
        let start = text.lines().last().map_or(0, str::len);
        Self::new(line, start, 0)
    }

    /// Line from 1, for a [`Loc`](crate::Loc).
    pub fn line(self) -> u32 {
        u32::try_from(self.line + 1).unwrap_or(u32::MAX)
    }

    /// Byte in the line, from 1.
    pub fn byte(self) -> u32 {
        u32::try_from(self.start + 1).unwrap_or(u32::MAX)
    }
}

/// Why a text is not a valid module or graph.
///
/// It is displayed as a position, a message, and the line with a mark below the error:
///
/// ```text
/// 3:8: unknown op `tensor.ad` (did you mean `tensor.add`?)
///   3 |   %0 = tensor.ad %x, %x : f32[2]
///     |        ^^^^^^^^^
/// ```
#[derive(Clone, Debug)]
pub struct ParseError {
    span: Span,
    source: String,
    problem: Problem,
}

/// The kinds of [`ParseError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Something else was expected here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The text was written by a later version of fedround.
    #[error(
        "version {found} of the {dialect} dialect is newer than this fedround, which reads up to version {newest}; upgrade fedround"
    )]
    Version {
        /// The dialect.
        dialect: &'static str,
        /// The version of the text.
        found: u32,
        /// The latest version that can be read.
        newest: u32,
    },
    /// A name that is none of a fixed set.
    #[error("unknown {what} `{name}`{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// What the name should be: an op, a hook, a type.
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// A value is read where it is not defined.
    #[error("value `%{name}` is not defined here")]
    Undefined {
        /// Its name.
        name: String,
    },
    /// A value is defined twice.
    #[error("value `%{name}` is defined twice")]
    Redefined {
        /// The name.
        name: String,
    },
    /// Operand types do not fit the op, or the program breaks a rule of its dialect.
    #[error("{0}")]
    Broken(String),
}

impl ParseError {
    pub(crate) fn new(text: &str, span: Span, problem: Problem) -> Self {
        Self {
            span,
            source: text.lines().nth(span.line).unwrap_or_default().to_owned(),
            problem,
        }
    }

    /// The kind of error.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.span.line + 1
    }

    /// The column in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.before().chars().count() + 1
    }

    fn before(&self) -> &str {
        self.source.get(..self.span.start).unwrap_or(&self.source)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line();
        writeln!(f, "{line}:{}: {}", self.column(), self.problem)?;
        let width = line.to_string().len() + 2;
        writeln!(f, "{line:>width$} | {}", self.source)?;
        let end = self.span.start + self.span.len;
        let marked = self.source.get(self.span.start..end);
        let marks = marked.map_or(0, |text| text.chars().count()).max(1);
        // Tabs stay, so that the marks stand below what they mark.
        let blank = |c| if c == '\t' { '\t' } else { ' ' };
        let indent: String = self.before().chars().map(blank).collect();
        write!(f, "{:>width$} | {indent}{}", "", "^".repeat(marks))
    }
}

impl std::error::Error for ParseError {}
