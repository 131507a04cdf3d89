//! Positions in the user's source code.

use std::fmt;
use std::panic::Location;

/// The place where the user wrote an op. Error messages show it; the equality of modules and graphs
/// ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    file: &'static str,
    line: u32,
    column: u32,
}

impl Loc {
    /// The caller of a `#[track_caller]` function, which is the line of the algorithm that staged an op.
    #[track_caller]
    pub fn caller() -> Self {
        let at = Location::caller();
        Self {
            file: at.file(),
            line: at.line(),
            column: at.column(),
        }
    }

    /// A line and a column, both counted from 1, of a text that was parsed.
    pub(crate) fn text(line: u32, column: u32) -> Self {
        Self {
            file: "text",
            line,
            column,
        }
    }

    /// The file as rustc names it, and the line and column, both counted from 1.
    pub fn position(&self) -> (&'static str, u32, u32) {
        (self.file, self.line, self.column)
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
