//! Passes as a user writes them: by name, and for some with a number.

use super::pass::{Pass, PassTarget};
use crate::error::{PassError, RequestError};

/// The largest number of a pass. `batch-clients` may copy an op for each client, so a slip of the keyboard would
/// otherwise take all of the memory.
const MOST: usize = 4096;

/// A pass with its number.
#[derive(Clone, Copy, Debug)]
pub struct Request<P: 'static> {
    /// The pass.
    pub pass: &'static Pass<P>,
    number: usize,
}

impl<P: PassTarget> Request<P> {
    /// Parses a pass, such as `cse` or `batch-clients=8`.
    ///
    /// # Errors
    ///
    /// The pass is unknown, or its number is missing, wrong, or not expected.
    pub fn named(text: &str) -> Result<Self, RequestError> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let known = P::passes().iter().find(|pass| pass.name == name);
        let Some(pass) = known else {
            let names: Vec<&'static str> = P::passes().iter().map(|pass| pass.name).collect();
            return Err(RequestError::unknown(name, P::DIALECT, names));
        };
        let parsed = number
            .and_then(|n| n.parse().ok())
            .filter(|n| (1..=MOST).contains(n));
        match (pass.number, number, parsed) {
            (None, None, _) => Ok(Self { pass, number: 0 }),
            (Some(_), _, Some(number)) => Ok(Self { pass, number }),
            (expected, found, _) => Err(RequestError::Number {
                pass: pass.name,
                expected: match expected {
                    Some(what) => format!("`{}=N` with the {what}, 1 to {MOST}", pass.name),
                    None => "no number".to_owned(),
                },
                found: found.map_or_else(|| "none".to_owned(), |n| format!("`{n}`")),
            }),
        }
    }

    /// Parses several passes, separated by commas.
    ///
    /// # Errors
    ///
    /// As [`Request::named`], for the first that is wrong.
    pub fn list(text: &str) -> Result<Vec<Self>, RequestError> {
        let names = text.split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(Self::named)
            .collect()
    }

    pub(super) fn run(&self, program: &mut P) -> Result<bool, PassError> {
        (self.pass.run)(program, self.number)
    }
}
