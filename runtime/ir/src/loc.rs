//! Where in the user's source an op was written.

use std::fmt;
use std::panic::Location;

/// A source position, carried by every op for error messages and ignored by equality of graphs.
#[derive(Clone, Copy, Debug)]
pub struct Loc {
    file: &'static str,
    line: u32,
    column: u32,
}

impl Loc {
    /// The caller of a `#[track_caller]` function: the line of the spec that staged an op.
    #[track_caller]
    pub fn caller() -> Self {
        let at = Location::caller();
        Self {
            file: at.file(),
            line: at.line(),
            column: at.column(),
        }
    }

    /// A line and a column (both from 1) of a text that was parsed.
    pub(crate) fn text(line: u32, column: u32) -> Self {
        Self {
            file: "text",
            line,
            column,
        }
    }

    /// File as the compiler names it, line and column (both from 1).
    pub fn position(&self) -> (&'static str, u32, u32) {
        (self.file, self.line, self.column)
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
